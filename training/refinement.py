# SPDX-License-Identifier: MIT
"""Trains the learned choice among candidates (choice.py) on ray-cast scenes (scene_lot.h).

    python3 training/refinement.py PHOTOGRAPHS --minutes 30 --out weights.features

Needs an NVIDIA GPU, nvcc, and the library that is built for it (make). The program's own matcher
makes the maps that are refined. Trained in floats; then weights, activations and means are rounded
as the program rounds them, so what is shown at the end is what the program computes.
"""
import argparse
import configparser
import copy
import glob
import json
import math
import os
import sys
import threading
import time

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

import choice
import scenes
from scenes import DEVICE, HEIGHT, WIDTH

HERE = os.path.dirname(os.path.abspath(__file__))
# The built-in file: the descriptor, and what is written beside a new choice.
BUILT_IN = os.path.join(HERE, '..', 'config', 'features', 'weights.features')
RANGES = (16, 24, 32, 48, 64, 96, 128, 160, 192, 240)  # that maps are searched in
BATCH = 8
AVERAGED = 500  # steps: weights are kept as their moving average
# Of pixels that passed the check and are off by more than 1 px. Rendered streets have 15 % of them,
# real ones 1 to 4 %: what they weigh keeps the network from distrusting what passed.
WRONG_WEIGHT = 0.3


class Program:
    """The program's matcher with one of several presets, and its descriptor."""

    def __init__(self, presets):
        sys.path.insert(0, os.path.join(HERE, '..', 'python'))
        import livestereo
        self.open, self.matchers, self.presets = livestereo.Matcher, {}, presets
        self.about, self.layers, self.choices = choice.read_file(BUILT_IN)
        self.on_device = [(w.to(DEVICE), b.to(DEVICE), shift) for w, b, shift in self.layers]
        self.descriptor = 'learned' if presets == ['best'] else 'census'

    def match(self, left, right, labels, lot=0):
        """Disparities in 1/16 px (1, H, W) int32 and confidences, by preset number lot."""
        key = (*left.shape[:2], labels, self.presets[lot % len(self.presets)])
        if key not in self.matchers:
            self.matchers[key] = self.open(key[1], key[0], preset=key[3], refinement='off',
                                           disparity_range=labels)
        result = self.matchers[key](left.contiguous(), right.contiguous())
        d, c = (torch.from_dlpack(m).clone() for m in (result.disparity, result.confidence))
        return d.int().unsqueeze(0), c.unsqueeze(0)

    def vectors(self, picture):
        grey = choice.grey_of(picture)
        return choice.described(self.on_device, grey) if self.descriptor == 'learned' else \
            choice.census_vectors(grey)


class Pairs(threading.Thread):
    """Fills a ring of pairs on the GPU with what the network sees, while it is trained."""

    def __init__(self, caster, program, count, seed, reuse):
        super().__init__(daemon=True)
        self.caster, self.program, self.seed, self.reuse = caster, program, seed, reuse
        make = lambda t, *k: torch.zeros(count, *k, HEIGHT, WIDTH, dtype=t, device=DEVICE)
        self.ring = {'f': make(torch.uint8, choice.FEATURES),
                     'cand': make(torch.int16, choice.CANDIDATES), 'd': make(torch.float32),
                     'known': make(torch.bool), 'weight': make(torch.uint8)}
        self.count, self.made, self.used, self.stop, self.failed = count, 0, 0, False, None
        self.generator = torch.Generator(DEVICE).manual_seed(seed)

    def pairs(self, count, seed, kind=len(scenes.KINDS)):
        """What is trained on: a dictionary of tensors (count, ...)."""
        rgb, d, seen, largest, rows_off = self.caster.cast(count, seed, kind)
        rgb = scenes.degraded(rgb, self.generator)
        maps, right = [], []
        for i in range(count):
            labels = next((r for r in RANGES if r >= largest[i]), RANGES[-1])
            maps.append(self.program.match(*rgb[i], labels, seed + i))
            # Rows as the program puts them right, by an estimate that is nearly exact.
            off = round(-32 * float(rows_off[i]))
            off += torch.randint(-1, 2, (3, 3), device=DEVICE, generator=self.generator)
            right.append(choice.rows_moved(rgb[i, 1], off))
        rough, sure = (torch.cat(m) for m in zip(*maps))
        left, right = rgb[:, 0].contiguous(), torch.stack(right)
        vectors = self.program.vectors(torch.cat([left, right])).chunk(2)
        f, cand, known = choice.features(rough, sure, left, right, vectors)
        weight = torch.where(d > 0, 30 + 60 * (scenes.spread(d) > 2), 10)  # sky: 10
        wrong = known & ((cand[:, 0] / 16 - d).abs() > 1)
        weight = torch.where(wrong, WRONG_WEIGHT * weight, weight) * (d < RANGES[-1])
        return {'f': f, 'cand': cand, 'd': d, 'known': known, 'seen': seen, 'weight': weight}

    def run(self):
        try:
            with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
                while not self.stop:
                    if self.made >= self.count / 4 + self.used / self.reuse:
                        time.sleep(0.002)
                        continue
                    new = self.pairs(4, self.seed * 10000019 + self.made)
                    at = [(self.made + i) % self.count for i in range(4)]
                    for name, tensor in self.ring.items():
                        tensor[at] = new[name].to(tensor.dtype)
                    torch.cuda.current_stream().synchronize()
                    self.made += 4
        except Exception as error:  # main() ends with it
            self.failed = error
            raise

    def batch(self, random):
        while self.made < self.count / 4 and not self.failed:
            time.sleep(0.05)
        if self.failed:
            raise self.failed
        self.used += BATCH
        at = torch.from_numpy(random.integers(0, min(self.made, self.count), BATCH)).to(DEVICE)
        return {name: tensor[at] for name, tensor in self.ring.items()}


# ---- the network, trained in floats, then rounded

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
        z = choice.convolved(x, self.weight.to(x.dtype), bias, self.stride)
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

    def __init__(self, descriptor):
        super().__init__()
        self.layers = torch.nn.ModuleDict({name: Layer(name, *shape) for name, shape in
                                           choice.LAYERS[descriptor].items()})
        with torch.no_grad():
            self.layers['out'].bias[0] = 2  # at first each pixel keeps its disparity

    def run(self, layer, f):
        out, regressed = choice.wired(layer, lambda a, b: (a + b) / 2, f)
        return out[:, :2 * choice.MODES].float(), regressed[:, :choice.REGRESSED].float()

    def forward(self, f):
        f = f.to(torch.bfloat16).contiguous(memory_format=torch.channels_last) / 128
        return self.run(lambda name, x: self.layers[name](x), f)

    @torch.no_grad()
    def rounded(self, batches):
        """A network in whole numbers. Odd pairs have ten times the activations of others: of
        several shares of pairs that may go beyond, the one whose logits are nearest to these."""
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
            sub = scale['h0'].view(4, 16).amin(0)  # of a channel's four pixels
            scale['h0'][:] = sub.repeat(4)
            before = {'i': torch.ones(4 * choice.FEATURES, device=DEVICE),
                      **{n: scale[m] for n, m in INPUT.items()},
                      'h1': torch.cat([sub, one_scale])}
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
            one.shift = int(math.floor(math.log2(127.5 / float(most[name].max()))))
        self.correct_biases(torch.cat(batches[:4]).float())  # all in the GPU's memory at once

    def whole(self):
        return {name: one.whole() for name, one in self.layers.items()}

    @torch.no_grad()
    def correct_biases(self, f):
        """Rounded weights and activations give sums of other means: biases take the difference,
        layer by layer (Nagel et al. 2019)."""
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
        choice.whole_network(in_whole_numbers, f)

    @torch.no_grad()
    def answers(self, f):
        """What choice.whole_network() returns."""
        if self.layers['i'].shift is None:
            return tuple((64 * t).round().int() for t in self.eval()(f))
        layers = self.whole()
        # Sums are exact below 2^24 in float32, and in float64, which the CPU takes.
        return choice.whole_network(lambda name, x: choice.whole_sums(name, layers[name], x),
                                    f.to(torch.float32 if f.is_cuda else torch.float64))


def modes_of(out, regressed, cand, base):
    """choice.modes_of() in px, with gradients."""
    g = F.interpolate(base.unsqueeze(1) / 64 + 8 * regressed, scale_factor=4, mode='bilinear',
                      align_corners=False)
    return torch.cat([cand.float() / 16, g], 1) + out[:, choice.MODES:]


def loss_of(logits, modes, d, weight):
    """-log of the mixture at the true disparity: each mode is a sum of three Laplace densities."""
    error = (modes - d.unsqueeze(1)).abs()
    density = torch.logsumexp(torch.stack([math.log(share / (2 * b)) - error / b for share, b in
                                           ((0.7, 0.4), (0.25, 2), (0.05, 16))]), 0)
    total = 0
    for part, first in ((1, 0), (0.3, choice.CANDIDATES)):  # all; the regressed ones alone
        chance = F.log_softmax(logits[:, first:], 1)
        likelihood = torch.logsumexp(chance + density[:, first:], 1)
        total = total - part * (likelihood * weight).sum() / weight.sum()
    return total


# ---- figures

def read_pairs(folder):
    """Pairs with known disparities in a folder like tests' LIVESTEREO_DATA."""
    read = lambda path: np.array(Image.open(path))
    for ini in sorted(glob.glob(os.path.join(folder, '*', '*', 'pair.ini'))):
        place, settings = os.path.dirname(ini), configparser.ConfigParser()
        settings.read(ini)
        of = settings['pair']
        name, drives = os.path.basename(place), os.path.isdir(os.path.join(place, 'left'))
        for truth in sorted(glob.glob(os.path.join(place, 'disp_left*', '*.png') if drives else
                                      os.path.join(place, 'disp_left.png'))):
            rest = os.path.basename(truth) if drives else ''
            path = lambda side: os.path.join(place, side, rest) if drives else \
                os.path.join(place, side + '.png')
            t = read(truth)
            t = t if t.ndim == 2 else t[..., 0]
            masks = {m: read(path(m)) == 255 for m in ('nonocc', 'all', 'disc')
                     if not drives and os.path.exists(path(m))}
            yield {'name': f'{name}/{rest[:-4]}' if drives else name, 'drives': drives,
                   'left': read(path('left')), 'right': read(path('right')), 'known': t > 0,
                   'truth': t.astype(np.float32) / float(of['disparity_scale']), 'masks': masks,
                   'labels': int(of['disparities'])}


def error_of(pair, d):
    """Per cent off by more than 1 px of each mask, of drives by more than 3 px and 5 % (d1); rms
    of those within 1 px."""
    off = np.abs(d / 16 - pair['truth'])
    k, out = pair['known'], {}
    if pair['drives']:
        out['d1'] = 100 * np.mean(((off > 3) & (off > 0.05 * pair['truth']))[k])
    for name, mask in (pair['masks'] or ({} if pair['drives'] else {'all': k})).items():
        out[name] = 100 * np.mean((off > 1)[k & mask])
    near = off[k & pair['masks'].get('nonocc', k)]
    out['rms'] = float(np.sqrt(np.mean(near[near <= 1]**2)))
    return out


SETS = {'twelve': ('tsukuba venus teddy cones', ('nonocc', 'all', 'disc')),
        'motorcycle': ('motorcycle', ('nonocc',)), 'aloe': ('aloe', ('nonocc',)),
        'reindeer': ('reindeer', ('nonocc',)), 'teddy_half': ('teddy_half', ('all',)),
        'flyingthings_a': ('flyingthings_a', ('all',)),
        'kitti2015_pair': ('kitti2015_pair', ('d1',)),
        'kitti2012_0_1': ('kitti2012_0_1', ('d1',)), 'kitti2015_46': ('kitti2015_46', ('d1',)),
        '12 driving': ('kitti2012_0_1 kitti2015_46 kitti_0048_lidar kitti_object_campus '
                       'kitti_object_dev', ('d1',)), 'noisy': ('kitti_0005_noisy', ('d1',))}


def summary(errors):
    """Means over the sets of names -> error_of()."""
    out = {}
    for title, (names, measures) in SETS.items():
        values = [e[m] for n, e in errors.items() if n.split('/')[0] in names.split()
                  for m in measures if m in e]
        if values:
            out[title] = round(float(np.mean(values)), 2)
    return out


class Judge:
    """Real pairs, with the program's maps before the choice."""

    def __init__(self, program, folder):
        self.pairs = list(read_pairs(folder)) if folder else []
        self.seen = []
        for pair in self.pairs:
            left, right = (torch.from_numpy(pair[s]).to(DEVICE) for s in ('left', 'right'))
            if left.dim() == 2:
                left, right = (p.unsqueeze(-1).repeat(1, 1, 3) for p in (left, right))
            maps = program.match(left, right, pair['labels'])
            greys = [choice.grey_of(p) for p in (left, right)]
            right = choice.rows_moved(right, choice.row_offsets(*greys, pair['labels']))
            vectors = [program.vectors(p.unsqueeze(0)) for p in (left, right)]
            self.seen.append((maps, choice.features(*maps, left.unsqueeze(0), right.unsqueeze(0),
                                                    vectors)))
        self.before = {p['name']: error_of(p, m[0][0].cpu().numpy())
                       for p, (m, _) in zip(self.pairs, self.seen)}

    def maps(self, network, prior=choice.PRIOR):
        """Of each pair the chosen map and its support."""
        for pair, (maps, (f, cand, known)) in zip(self.pairs, self.seen):
            logits, modes = choice.modes_of(*network.answers(f), cand, known)
            fine, support = choice.chosen(logits, modes, known, prior)
            d = ((fine + 2) >> 2).clamp(0, 16 * (pair['labels'] - 1))
            yield pair, d[0].cpu().numpy(), support[0].cpu().numpy()

    def errors(self, network, prior=choice.PRIOR):
        return {p['name']: error_of(p, d) for p, d, _ in self.maps(network, prior)}


@torch.no_grad()
def calibrate(pairs, network, count, prior=choice.PRIOR):
    """The curve of chances by support, of rendered pairs of other seeds; and by kind of scene, per
    cent: off by more than 1 before, after, share that passed, off among those before, after."""
    sums, table = torch.zeros(2, 17, device=DEVICE), {}
    for kind, title in enumerate(scenes.KINDS):
        parts = []
        for i in range(count):
            p = pairs.pairs(4, 777000111 + 4 * i, kind)
            logits, modes = choice.modes_of(*network.answers(p['f']), p['cand'], p['known'])
            fine, support = choice.chosen(logits, modes, p['known'], prior)
            before, after = ((x - p['d']).abs() > 1 for x in (p['cand'][:, 0] / 16, fine / 64))
            known, share = p['known'], lambda b: 100 * float(b.float().mean())
            parts.append([share(b) for b in (before, after, known, before[known], after[known])])
            # A support counts for the two values of the curve that it lies between.
            low, part = (support >> 4).view(-1), ((support & 15) / 16).view(-1)
            for at, w in ((low, 1 - part), (low + 1, part)):
                sums[0].index_add_(0, at, w)
                sums[1].index_add_(0, at, w * (~after).view(-1))
        table[title] = [round(float(v), 2) for v in np.mean(parts, 0)]
    seen, right = sums.cpu().numpy()
    at = np.flatnonzero(seen > 1000)  # few pixels have a low support: a line to 0
    curve = np.maximum.accumulate(255 * right[at] / seen[at])
    curve = np.interp(np.arange(17), np.append(0, at), np.append(0, curve))
    return curve.round().astype(int).tolist(), table


# ---- training

@torch.no_grad()
def average_in(network, average, step):
    """A moving average that is short at first."""
    keep = min(1 - 1 / AVERAGED, step / (step + 10))
    of = [[t for t in one.state_dict().values() if t.is_floating_point()]
          for one in (average, network)]
    torch._foreach_lerp_(*of, 1 - keep)


def train(network, minutes, rate, pairs, random, say, figures):
    """Trains for minutes, at a rate that falls to 0 as a cosine. figures(average) is called half
    way. Returns the moving average of the network."""
    average = copy.deepcopy(network).eval()
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0,
                                  fused=True)
    run_network, run_loss = torch.compile(network), torch.compile(loss_of)
    step, done, shown, losses, begun = 0, 0, 0, [], time.time()
    while done < 1:
        for group in optimiser.param_groups:
            group['lr'] = rate * min(1, (step + 1) / 200) * \
                (0.5 + 0.5 * math.cos(math.pi * done))
        b = pairs.batch(random)
        base = choice.regressed_base(b['cand'][:, 0].int(), b['known'])
        out, regressed = run_network(b['f'])
        modes = modes_of(out, regressed, b['cand'], base)
        rows = slice(step % 2, None, 2)  # half of the rows
        loss = run_loss(out[:, :choice.MODES, rows].contiguous(), modes[:, :, rows].contiguous(),
                        b['d'][:, rows].contiguous(), b['weight'][:, rows].float())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        if not step:
            assert all(layer.weight.grad.any() for layer in network.layers.values())
        torch.nn.utils.clip_grad_norm_(network.parameters(), 5)
        optimiser.step()
        step += 1
        average_in(network, average, step)
        losses.append(loss.detach())
        if step == 3:  # compiled: the minutes begin
            torch.cuda.synchronize()
            begun = time.time()
            say('compiled')
        done = (time.time() - begun) / (60 * minutes)
        if done * 10 > shown + 1 or done >= 1:
            shown = int(done * 10)
            say(f'step {step}, pairs {pairs.made}, loss {float(torch.stack(losses).mean()):.4f}')
            losses = []
            if shown == 5:
                figures(average)
    return average, step


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('photographs', help='a folder of photographs')
    parser.add_argument('--out', default='refined.features')
    parser.add_argument('--minutes', type=float, default=30)
    parser.add_argument('--rate', type=float, default=1.5e-3)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--ring', type=int, default=2000, help='pairs kept on the GPU, 20 MB each')
    parser.add_argument('--reuse', type=float, default=7, help='how often each pair is trained on')
    parser.add_argument('--presets', default='best', help='whose maps are refined: best, or those '
                        'with census, each for as many pairs, the first one for figures')
    parser.add_argument('--start', help='a .pt file of an earlier training to go on from')
    parser.add_argument('--data', help='real pairs for figures; nothing is trained on them')
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True  # exact: 8 bits
    torch.backends.cudnn.benchmark = True
    begin = time.time()

    def say(*words):
        print(f'[{time.time() - begin:6.1f}]', *words, flush=True)
    start = torch.load(options.start, map_location=DEVICE) if options.start else {}
    seed = options.seed + 100 * start.get('runs', 0)
    program = Program(options.presets.split(','))
    caster = scenes.Caster(options.photographs, options.seed)
    choice.evidence = caster.evidence
    say('textures', caster.counts)
    judge = Judge(program, options.data)
    say('before', json.dumps(summary(judge.before)))
    program.matchers.clear()
    pairs = Pairs(caster, program, options.ring, seed, options.reuse)
    pairs.start()
    random = np.random.default_rng(seed)

    def figures(network):
        say(json.dumps(summary(judge.errors(network))))
    network = Network(program.descriptor).to(DEVICE, memory_format=torch.channels_last)
    if start:
        network.load_state_dict(start['network'])
    pairs.batch(random)
    say('first pairs', pairs.made)
    network, steps = train(network, options.minutes, options.rate, pairs, random, say, figures)
    torch.save({'network': network.state_dict(), 'runs': start.get('runs', 0) + 1},
               options.out + '.pt')
    figures(network)
    network = network.rounded([pairs.batch(random)['f'] for _ in range(17)])
    say('whole numbers')
    figures(network)
    pairs.stop = True
    pairs.join()
    after = judge.errors(network)
    say('after', json.dumps(summary(after)))
    curve, table = calibrate(pairs, network, 8)
    say('curve', curve, json.dumps(table))
    own = 'choice' if program.descriptor == 'learned' else 'choice with census'
    trained = [part for part in program.about[-1].split('; ') if not part.startswith(own + ':')]
    program.about[-1] = '; '.join(trained + [f'{own}: {steps} steps, seed {options.seed}'])
    program.choices[program.descriptor] = network.whole(), choice.PRIOR, curve
    choice.write_file(options.out, program.about, program.layers, program.choices)
    with open(options.out + '.json', 'w') as file:
        json.dump({'before': judge.before, 'after': after, 'curve': curve, 'scenes': table}, file,
                  indent=1)
    say('end')


if __name__ == '__main__':
    main()
