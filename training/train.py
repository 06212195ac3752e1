# SPDX-License-Identifier: MIT
"""Trains the weights of `descriptor=learned` (gpu/stages/feature.h) from photographs."""
#
#     training/train.py PHOTOGRAPHS --out learned.features
#
# Needs an NVIDIA GPU and nvcc. A network of 3x3 convolutions gives a vector of 64 numbers for each
# pixel; 32 - 32 cos of the vectors of two pixels is their distance. It is trained on ray-cast pairs
# (scenes.py) so that the distance at the true disparity is the least of all labels, by itself and
# after averaging over cross-shaped windows. Weights and activations are rounded while training as
# the program rounds them.
import argparse
import math
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import choice
import scenes

NUMBERS = 64  # of a pixel's vector
LABELS = 64
ROWS, COLUMNS = 32, 320  # of the strips of a scene's pictures that are trained on
STRIPS = 8  # of a scene
LARGEST = 63 / 128  # of a vector of length 1
MARGIN = 6  # rows and columns that see the picture's border
CROSS_LENGTH, CROSS_HEIGHT, CROSS_STEP = 17, 4, 16  # of `default`
HELD_SEED = 999  # of scenes by whose loss the best weights are found
RATE = 2e-3
AVERAGED = 300  # steps: weights are kept as their moving average, which seeds change less


class Strips:
    """Strips of ray-cast pairs, with what cameras do to them."""

    def __init__(self, photographs, seed):
        scenes.build()
        self.caster = scenes.Caster(*scenes.textures(photographs,
                                                     torch.Generator().manual_seed(seed)))
        self.random, self.seed = np.random.default_rng(seed), 1000003 * seed
        self.generator = torch.Generator(scenes.DEVICE).manual_seed(seed)

    def pairs(self, count):
        """Strips of count pairs."""
        # Left, right (count, ROWS, COLUMNS) of 0..255, true disparity, whether the right camera
        # sees it as one of the labels, whether it is at an edge.
        rgb, d, seen, _, _ = self.caster.cast(count // STRIPS, self.seed)
        self.seed += count // STRIPS
        rgb = scenes.degraded(rgb, self.generator)
        scenes.make_worse(rgb, self.generator)
        left, right = choice.grey_of(rgb).float().unbind(1)
        maps = left, right, d, seen & (d > 0) & (d < LABELS - 2), scenes.spread(d) > 2.5
        strips = []
        for i in range(count):
            y = 8 * self.random.integers((scenes.HEIGHT - ROWS) // 8 + 1)
            x = 8 * self.random.integers((scenes.WIDTH - COLUMNS) // 8 + 1)
            strips.append([m[i // STRIPS, y:y + ROWS, x:x + COLUMNS] for m in maps])
        return [torch.stack(parts) for parts in zip(*strips)]


class Whole(torch.autograd.Function):
    """Rounds weights to whole numbers / scale, -127..127; the gradient passes."""

    @staticmethod
    def forward(_, weight, scale):
        return (weight * scale).round().clamp(-127, 127) / scale

    @staticmethod
    def backward(_, gradient):
        return gradient, None


class Activation(torch.autograd.Function):
    """Clamps to 0..127/128 and rounds to 1/128."""
    # The gradient passes inside the range, a tenth of it outside, so that no channel stays at an
    # end for ever.

    @staticmethod
    def forward(context, x):
        context.save_for_backward(((x > 0) & (x < 127 / 128)).to(x.dtype).mul_(0.9).add_(0.1))
        return (x.clamp(0, 127 / 128) * 128).round_().div_(128)

    @staticmethod
    def backward(context, gradient):
        return gradient * context.saved_tensors[0]


class Layer(torch.nn.Module):
    """A convolution with weights of whole numbers / 2^shift, -127..127."""

    def __init__(self, inputs, outputs, shift):
        super().__init__()
        self.shift = shift
        self.weight = torch.nn.Parameter(
            torch.randn(outputs, inputs, 3, 3) * math.sqrt(2 / (9 * inputs)))
        self.bias = torch.nn.Parameter(torch.full((outputs,), 0.05))

    def forward(self, x):
        return F.conv2d(x, Whole.apply(self.weight, 2.0**self.shift), self.bias,
                        padding=1)


class Network(torch.nn.Module):

    def __init__(self):
        super().__init__()
        # The first layer's unit is 1/256 of white, its activations' 1/128: one bit less to shift.
        self.layers = torch.nn.ModuleList([Layer(1, NUMBERS, 2)] +
                                          [Layer(NUMBERS, NUMBERS, 7) for _ in range(3)])
        self.rate = torch.nn.Parameter(torch.tensor([0.0, 0.0]))  # logarithms of both losses'

    @torch.no_grad()
    def begin(self, grey):
        """Scales the weights drawn by lot so that each channel's sums of the pictures
        grey (N, 1, H, W) have mean 0.15 and deviation 0.3: about a third of them is below 0."""
        self.layers[0].weight -= self.layers[0].weight.mean((2, 3), keepdim=True)
        x = grey / 256
        for layer in self.layers:
            z = layer(x)
            scale = 0.3 / z.std((0, 2, 3)).clamp(min=1e-3)
            layer.weight *= scale.view(-1, 1, 1, 1)
            layer.bias += 0.15 - layer(x).mean((0, 2, 3))
            x = Activation.apply(layer(x))

    def forward(self, grey):
        """Vectors of length 1 (N, NUMBERS, H - 2 MARGIN, W) of grey (N, 1, H, W) of 0..255."""
        x = grey / 256
        for layer in self.layers[:-1]:
            x = Activation.apply(layer(x))
        z = self.layers[-1](x)[:, :, MARGIN:-MARGIN].float()
        return F.normalize(z, dim=1, eps=1e-3).clamp(-LARGEST, LARGEST)

    def units(self):
        """Each layer's unit of a sum, 1/256 or 1/128 times 1/2^shift, and the file's shift."""
        for layer in self.layers:
            first, last = layer is self.layers[0], layer is self.layers[-1]
            yield (layer, (256 if first else 128) * 2.0**layer.shift,
                   3 if last else layer.shift + first)

    def save(self, path, about):
        """Writes the weights in the program's format (docs/METHODS.md, learned descriptor)."""
        layers = []
        for layer, unit, shift in self.units():
            weight = (layer.weight.detach().cpu() * 2.0**layer.shift).round().clamp(-127, 127)
            bias = layer.bias.detach().double().cpu()
            layers.append((weight, (bias * unit).round() + 2.0**(shift - 1), shift))
        choice.write_file(path, ['licence: MIT', f'trained: {about}'], layers, {})


def distances(left, right):
    """32 - 32 cos (N, H, W, LABELS) of vectors (N, NUMBERS, H, W); 32 out of the picture."""
    n, _, h, w = left.shape
    l = left.permute(0, 2, 3, 1).reshape(n * h, w, NUMBERS)
    r = right.permute(0, 2, 3, 1).reshape(n * h, w, NUMBERS)
    r = F.pad(r, (0, 0, LABELS - 1, 0))
    # Blocks of columns against what their labels reach: a banded product.
    size = 64
    steps = -(-w // size)
    l = F.pad(l, (0, 0, 0, steps * size - w)).view(n * h, steps, size, NUMBERS)
    reach = size + LABELS - 1
    r = F.pad(r, (0, 0, 0, steps * size - w))
    r = torch.stack([r[:, s * size:s * size + reach] for s in range(steps)], 1)
    products = F.pad((l @ r.transpose(2, 3)).float(), (0, 1))  # (rows, steps, size, reach + 1)
    # Row x of a block has columns x .. x + LABELS - 1, the last of which is label 0.
    flat = products.reshape(n * h, steps, size * (reach + 1))
    band = torch.as_strided(flat, (n * h, steps, size, LABELS),
                            (flat.stride(0), flat.stride(1), reach + 2, 1))
    band = band.flip(-1).reshape(n, h, steps * size, LABELS)[:, :, :w]
    return 32 - 32 * band


def arm(image, dx, dy, longest):
    """Lengths of the arms of cross-shaped windows (Zhang, Lu, Lafruit 2009) towards (dx, dy)."""
    h, w = image.shape[1:]
    padded = F.pad(image, (longest, longest, longest, longest), value=1e6)
    alike = torch.ones_like(image, dtype=torch.bool)
    length = torch.zeros_like(image, dtype=torch.long)
    for i in range(1, longest + 1):
        y, x = longest + i * dy, longest + i * dx
        alike = alike & ((padded[:, y:y + h, x:x + w] - image).abs() <= CROSS_STEP)
        length += alike
    return length


def along(cost, before, after, dim):
    """Sums of cost (N, H, W, LABELS) from -before to +after along dim."""
    total = F.pad(cost.cumsum(dim), (0, 0) * (3 - dim) + (1, 0))
    at = torch.arange(cost.shape[dim], device=cost.device)
    at = at.view(-1, 1) if dim == 1 else at
    expand = lambda i: i.unsqueeze(-1).expand(-1, -1, -1, cost.shape[3])
    return total.gather(dim, expand(at + after + 1)) - total.gather(dim, expand(at - before))


def average(cost, image):
    """Means of cost over cross-shaped windows of the image (N, H, W)."""
    left, right = arm(image, -1, 0, CROSS_LENGTH), arm(image, 1, 0, CROSS_LENGTH)
    up, down = arm(image, 0, -1, CROSS_HEIGHT), arm(image, 0, 1, CROSS_HEIGHT)
    rows = along(cost, left, right, 2)
    count = along((left + right + 1).float().unsqueeze(-1), up, down, 1)
    return along(rows, up, down, 1) / count


def loss_of(network, rates, left, right, d, visible, edge):
    """The loss of single pixels and that of windows."""
    with torch.autocast(left.device.type, torch.bfloat16):
        vectors = network(torch.cat([left, right]).unsqueeze(1))
    rows = (slice(None), slice(MARGIN, -MARGIN))
    columns = (slice(None), slice(None), slice(LABELS + MARGIN, -MARGIN))
    first, second = vectors.chunk(2)
    cost = distances(first, second)
    curve = average(1 - torch.exp(-cost / 10), left[rows])[columns]
    cost = cost[columns]
    d, visible, edge = (t[rows][columns] for t in (d, visible, edge))
    low = d.floor().long().clamp(0, LABELS - 2)
    part = (d - low).clamp(0, 1)
    weight = visible * (1 + 2.0 * edge)
    losses = []
    for logits, rate in ((-cost * 0.3, rates[0]), (-curve * 40, rates[1])):
        chance = F.log_softmax(logits * rate.exp(), -1)
        at = chance.gather(-1, torch.stack([low, low + 1], -1))
        right_one = torch.logaddexp(at[..., 0] + torch.log(1 - part + 1e-3),
                                    at[..., 1] + torch.log(part + 1e-3))
        losses.append(-(right_one * weight).sum() / weight.sum())
    return 0.4 * losses[0] + 0.6 * losses[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('photographs', help='a folder of photographs')
    parser.add_argument('--out', default='learned.features')
    parser.add_argument('--minutes', type=float, default=9.3)
    parser.add_argument('--pairs', type=int, default=32, help='of one step')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    start = time.time()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    random = np.random.default_rng(options.seed)
    strips = Strips(options.photographs, options.seed)
    held = Strips(options.photographs, HELD_SEED)
    held = [held.pairs(16) for _ in range(6)]
    network = Network().to(scenes.DEVICE, memory_format=torch.channels_last)
    network.begin(strips.pairs(16)[0].unsqueeze(1))
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(1 - 1 / AVERAGED))
    optimiser = torch.optim.Adam(network.parameters(), lr=RATE, betas=(0.9, 0.99))

    done, step, stored, best = 0, 0, [], float('inf')
    while done < 1:
        rate = RATE * min(1, (step + 1) / 100) * 0.5 * (1 + math.cos(math.pi * done))
        for group in optimiser.param_groups:
            group['lr'] = max(rate, 1e-6)
        if step % 4 == 0:  # each is trained on four times on average
            stored = stored[-63:] + [strips.pairs(options.pairs)]
        loss = loss_of(network, network.rate, *stored[random.integers(len(stored))])
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            for layer in network.layers:
                layer.weight.clamp_(-127 / 2.0**layer.shift, 127 / 2.0**layer.shift)
        averaged.update_parameters(network)
        step += 1
        done = (time.time() - start) / (60 * options.minutes)
        if step % 100 == 0 or done >= 1:
            with torch.no_grad():
                loss = float(np.mean([float(loss_of(averaged.module, network.rate, *p))
                                      for p in held]))
            print(f'step {step}, {time.time() - start:.1f} s, loss {loss:.4f}', flush=True)
            if done < 0.5 or loss < best:  # the best of the second half is kept
                best = loss if done >= 0.5 else best
                averaged.module.save(options.out, f'{step} steps, seed {options.seed}')


if __name__ == '__main__':
    main()
