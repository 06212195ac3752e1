# SPDX-License-Identifier: MIT
"""The choice's network in floats, in whole numbers, and as it is kept in a checkpoint."""
import copy
import io
import lzma
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import choice
from scenes import DEVICE

AVERAGED = 500  # steps: weights are kept as their moving average
FARTHEST = 10  # px: an error counts as this much at most


def padded(x):
    """x with its border repeated."""
    # Sums of zero paddings: the gradient of F.pad's replication adds each number atomically and
    # cannot be fused with what is around it.
    rows, columns = x.shape[2:]
    x = F.pad(x, (0, 0, 1, 1)) + F.pad(x[:, :, :1], (0, 0, 0, rows + 1)) + \
        F.pad(x[:, :, -1:], (0, 0, rows + 1, 0))
    return F.pad(x, (1, 1)) + F.pad(x[..., :1], (0, columns + 1)) + \
        F.pad(x[..., -1:], (columns + 1, 0))


class Layer(torch.nn.Module):
    """A convolution, batch normalisation, ReLU."""

    def __init__(self, name, inputs, outputs):
        super().__init__()
        self.stride = choice.stride(name)
        self.linear, self.shift = name in choice.LINEAR, None  # that of whole numbers
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs, 3, 3))
        self.bias = torch.nn.Parameter(torch.zeros(outputs))
        self.norm = None if self.linear else torch.nn.BatchNorm2d(outputs)
        if self.linear:
            torch.nn.init.normal_(self.weight, 0, 0.01)
        else:
            torch.nn.init.kaiming_normal_(self.weight, nonlinearity='relu')

    def sums(self, x):
        bias = None if self.norm else self.bias.to(x.dtype)
        z = F.conv2d(padded(x), self.weight.to(x.dtype), bias, self.stride)
        return self.norm(z) if self.norm else z

    def forward(self, x):
        return self.sums(x) if self.linear else F.relu(self.sums(x))

    @torch.no_grad()
    def fold(self):
        """Takes the normalisation into weights and biases."""
        if self.norm:
            factor = self.norm.weight / (self.norm.running_var + self.norm.eps).sqrt()
            self.bias[:] = self.norm.bias - self.norm.running_mean * factor
            self.weight *= factor.view(-1, 1, 1, 1)
            self.norm = None

    def whole(self):
        """Weights, biases with their rounding, and the shift, as the program has them."""
        weight = (self.weight.detach() * 2.0**self.shift).round().clamp(-127, 127)
        bias = (self.bias.detach().double() * 128 * 2.0**self.shift).round().long()
        shift = self.shift + self.linear  # numbers in 1/64, activations in 1/128
        return weight.cpu(), bias.cpu() + (1 << shift >> 1), shift


# Whose outputs a layer takes; where it takes a mean of two, they have one scale.
INPUT = {'e1': 'i', 'e2a': 'e1', 'e2b': 'e2a', 'e3a': 'e2b', 'e3b': 'e3a', 'e4a': 'e3b',
         'e4b': 'e4a', 'e5a': 'e4b', 'e5b': 'e5a', 'd4': 'e4b', 'd3': 'e3b', 'u3': 'd3',
         'd2': 'e2b', 'u2': 'd2', 'reg': 'd2', 'd1': 'e1', 'h0': 'd1', 'h1': 'h0', 'out': 'h1'}
AVERAGED_PAIRS = (('e5b', 'e4b'), ('d4', 'e3b'), ('u3', 'e2b'), ('u2', 'e1'))


class Network(torch.nn.Module):

    def __init__(self, part):
        super().__init__()
        self.layers = torch.nn.ModuleDict({name: Layer(name, *shape) for name, shape in
                                           choice.LAYERS[part].items()})
        self.full = 'h1' in self.layers
        with torch.no_grad():
            self.layers['out'].bias[0] = 2  # at first each pixel keeps its disparity

    def run(self, layer, f):
        out, regressed = choice.wired(layer, lambda a, b: (a + b) / 2, f, self.full)
        return out[:, :2 * choice.MODES].float(), regressed[:, :choice.REGRESSED].float()

    def forward(self, f):
        f = f.to(torch.bfloat16).contiguous(memory_format=torch.channels_last) / 128
        return self.run(lambda name, x: self.layers[name](x), f)

    @torch.no_grad()
    def begin_with(self, layers, f):
        """Takes weights in whole numbers; on features f normalisation changes nothing at first."""
        def layer(name, x):
            one, (weight, bias, shift) = self.layers[name], layers[name]
            unit = 2.0**(int(shift) - one.linear)
            one.weight[:] = weight / unit
            one.bias[:] = (bias - (1 << int(shift) >> 1)) / (128 * unit)
            z = F.conv2d(padded(x), one.weight, None, one.stride)
            if one.norm:
                variance, mean = torch.var_mean(z, (0, 2, 3))
                one.norm.running_mean[:], one.norm.running_var[:] = mean, variance
                one.norm.weight[:] = (variance + one.norm.eps).sqrt()
                one.norm.bias[:] = mean + one.bias
            z = z + one.bias.view(-1, 1, 1)
            return z if one.linear else F.relu(z)
        self.run(layer, f.float() / 128)

    @torch.no_grad()
    def rounded(self, batches):
        """A network in whole numbers."""
        # Odd pairs have ten times the activations of others: of several shares of pairs that may
        # go beyond, the one whose logits are nearest to these.
        tried, last = {}, batches[-1]
        wanted = self.run(lambda name, x: self.layers[name](x), last.float() / 128)[0]
        for share in (1, 0.9, 0.75, 0.5):
            one = copy.deepcopy(self)
            one.make_whole(batches[:-1], share)
            tried[float((one.answers(last)[0] / 64 - wanted).abs().mean())] = one
        return tried[min(tried)]

    @torch.no_grad()
    def make_whole(self, batches, share):
        """Folds the normalisation and scales channels, which ReLU allows (Nagel et al. 2019), so
        that activations on a share of the pairs of batches fill 0..127 and weights 8 bits."""
        peaks = {name: [] for name in self.layers}

        def layer(name, x):
            y = self.layers[name](x)
            peaks[name].append(y[:, :, ::3, ::3].flatten(2).float().quantile(0.9995, 2))
            return y
        for one in self.layers.values():
            one.fold()
        for f in batches:
            self.run(layer, f.float() / 128)
        scale = {name: 0.9 / torch.cat(of_pairs).quantile(share, 0).clamp(min=1e-6)
                 for name, of_pairs in peaks.items()}
        one_scale = torch.ones(choice.FEATURES, device=DEVICE)
        for step in range(6):
            for name, own in scale.items():
                own.clamp_(max=8 * float(own.median()))
                if self.layers[name].linear:
                    own.fill_(1)
            for a, b in AVERAGED_PAIRS:
                scale[a][:] = scale[b][:] = torch.minimum(scale[a], scale[b])
            before = {'i': torch.ones(4 * choice.FEATURES, device=DEVICE),
                      **{n: scale.get(m, scale['d1']) for n, m in INPUT.items()}}
            if self.full:
                sub = scale['h0'].view(4, 16).amin(0)  # of a channel's four pixels
                scale['h0'][:] = sub.repeat(4)
                before['h1'] = torch.cat([sub, one_scale])
            most = {name: (one.weight * scale[name].view(-1, 1, 1, 1) /
                           before[name].view(1, -1, 1, 1)).abs().amax((1, 2, 3))
                    for name, one in self.layers.items()}
            if step == 5:
                break
            for name in self.layers:  # a channel of large weights makes all others coarse
                scale[name] /= (most[name] / (2 * most[name].median())).clamp(1, 1.5)
        for name, one in self.layers.items():
            one.weight *= scale[name].view(-1, 1, 1, 1) / before[name].view(1, -1, 1, 1)
            one.bias *= scale[name]
            # Weights above 127 are cut off: of the shares that are tried the best one is taken.
            one.shift = max(0, int(math.floor(math.log2(127.5 / float(most[name].max())))))
        self.correct_biases(torch.cat(batches[:4]).float())  # all in the GPU's memory at once

    def whole(self):
        return {name: one.whole() for name, one in self.layers.items()}

    @torch.no_grad()
    def correct_biases(self, f):
        """Rounded weights and activations give sums of other means."""
        # Biases take the difference, layer by layer (Nagel et al. 2019).
        wanted, mean = {}, lambda sums: sums.mean((0, 2, 3))

        def in_floats(name, x):
            sums = self.layers[name].sums(x)
            wanted[name] = mean(sums)
            return sums if self.layers[name].linear else F.relu(sums)

        def in_whole_numbers(name, x):
            one = self.layers[name]
            unit = 64 if one.linear else 128
            one.bias += wanted[name] - (mean(choice.whole_sums(name, one.whole(), x)) - 0.5) / unit
            return choice.whole_sums(name, one.whole(), x)
        self.run(in_floats, f / 128)
        choice.whole_network(in_whole_numbers, f, self.full)

    @torch.no_grad()
    def answers(self, f):
        """The network in whole numbers, as choice.whole_network() returns it."""
        if self.layers['i'].shift is None:
            return tuple((64 * t).round().int() for t in self.eval()(f))
        layers = self.whole()
        # Sums are exact below 2^24 in float32, and in float64, which the CPU takes.
        return choice.whole_network(lambda name, x: choice.whole_sums(name, layers[name], x),
                                    f.to(torch.float32 if f.is_cuda else torch.float64), self.full)


def modes_of(out, regressed, cand, base):
    """choice.modes_of() in px, with gradients."""
    g = F.interpolate(base.unsqueeze(1) / 64 + 8 * regressed, scale_factor=4, mode='bilinear',
                      align_corners=False)
    return torch.cat([cand.float() / 16, g], 1) + out[:, choice.MODES:]


def loss_of(logits, modes, d, weight):
    """-log of the mixture at the true disparity: each mode is a sum of three Laplace densities."""
    # A truth that all modes miss by far counts no more; the regressed ones alone are drawn there.
    total = 0
    for part, first, most in ((1, 0, FARTHEST), (0.3, choice.CANDIDATES, 1e9)):
        error = (modes[:, first:] - d.unsqueeze(1)).abs().clamp(max=most)
        density = torch.logsumexp(torch.stack([math.log(share / (2 * b)) - error / b for share, b in
                                               ((0.7, 0.4), (0.25, 2), (0.05, 16))]), 0)
        chance = F.log_softmax(logits[:, first:], 1)
        likelihood = torch.logsumexp(chance + density, 1)
        total = total - part * (likelihood * weight).sum() / weight.sum()
    return total


@torch.no_grad()
def average_in(network, average, step):
    """A moving average that is short at first."""
    keep = min(1 - 1 / AVERAGED, step / (step + 10))
    of = [[t for t in one.state_dict().values() if t.is_floating_point()]
          for one in (average, network)]
    torch._foreach_lerp_(*of, 1 - keep)


# ---- checkpoints: weights as whole numbers of 10 bits by output channel, then LZMA

def packed(network):
    """Packs the network for unpack()."""
    out = {}
    for name, t in network.state_dict().items():
        t = t.detach().cpu()
        if t.dim() == 4:
            step = t.abs().amax((1, 2, 3), keepdim=True).clamp(min=1e-9) / 511
            whole = (t / step).round().contiguous().numpy().astype('<i2')
            halves = whole.view(np.uint8).reshape(-1, 2).T  # high bytes compress well
            t = {'halves': torch.from_numpy(halves.copy()), 'step': step}
        out[name] = t
    return out


def unpack(network, kept):
    """Gives a network the weights of packed()."""
    state = network.state_dict()
    for name, t in kept.items():
        if isinstance(t, dict):
            whole = t['halves'].numpy().T.copy().view('<i2').astype(np.float32)
            t = torch.from_numpy(whole).view(state[name].shape) * t['step']
        state[name] = t
    network.load_state_dict(state)


def write_checkpoint(path, parts):
    file = io.BytesIO()
    torch.save(parts, file)
    with open(path + '.new', 'wb') as out:
        out.write(lzma.compress(file.getvalue()))
    os.replace(path + '.new', path)


def read_checkpoint(path):
    """Reads what write_checkpoint() was given; nothing where there is no such file."""
    if not path or not os.path.exists(path):
        return {}
    with lzma.open(path) as file:
        return torch.load(io.BytesIO(file.read()))
