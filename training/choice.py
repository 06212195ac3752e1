# SPDX-License-Identifier: MIT
"""The learned choice among candidates behind belief propagation, in whole numbers."""
# As the program computes it: the network, the choice, and the file of its weights.
#
# Maps are tensors (N, H, W) of int32, disparities in 1/16 px. Pictures are (N, H, W, C), vectors of
# the learned descriptor (N, H, W, 64). Outside of a map its border repeats. Results are the same on
# every device.
import numpy as np
import torch
import torch.nn.functional as F

CANDIDATES, REGRESSED, FEATURES = 13, 2, 48
MODES = CANDIDATES + REGRESSED
PRIOR = 112  # 1/64: added to the logit of a disparity that passed


def shapes(half, quarter, coarse, last):
    """Layers in the order of the file: inputs, outputs; channels at 1/2, at 1/4 of the size, less."""
    return {'i': (192, half), 'e1': (half, half), 'e2a': (half, quarter), 'e2b': (quarter, quarter),
            'e3a': (quarter, coarse),
            **{name: (coarse, coarse) for name in ('e3b', 'e4a', 'e4b', 'e5a', 'e5b', 'd4', 'd3')},
            'u3': (coarse, quarter), 'd2': (quarter, quarter), 'u2': (quarter, half),
            'd1': (half, half), **last}


# The layers of each descriptor's choice. With census none has full size: 'out' gives 2x2 pixels at
# one.
LAYERS = {'learned': shapes(64, 64, 96, {'h0': (64, 64), 'h1': (64, 32), 'reg': (64, 32),
                                         'out': (32, 32)}),
          'census': shapes(16, 32, 32, {'reg': (32, 32), 'out': (16, 128)})}
HALVING = ('e2a', 'e3a', 'e4a', 'e5a')  # layers with a stride of 2
LINEAR = ('reg', 'out')  # layers that give numbers of 16 bits, in 1/64


# ---- the network

def unshuffled(f):
    """2x2 pixels become channels, ((y & 1) * 2 + (x & 1)) * FEATURES + k."""
    f = F.pad(f, (0, f.shape[3] & 1, 0, f.shape[2] & 1), 'replicate')
    return torch.cat([f[:, :, y::2, x::2] for y in (0, 1) for x in (0, 1)], 1)


def shuffled(h, f):
    """Channels of 2x2 pixels, in the order of unshuffled(), become the pixels of f."""
    n, channels, rows, columns = h.shape
    h = h.reshape(n, 2, 2, channels // 4, rows, columns).permute(0, 3, 4, 1, 5, 2)
    return h.reshape(n, channels // 4, 2 * rows, 2 * columns)[:, :, :f.shape[2], :f.shape[3]]


def upsampled(a, like):
    a = a.repeat_interleave(2, 2).repeat_interleave(2, 3)
    return a[:, :, :like.shape[2], :like.shape[3]]


def wired(layer, mean, f, full):
    """The network's wires; returns outputs of 'out' and of 'reg'."""
    # layer(name, x): its convolution and what follows; mean(a, b): of two maps. f: features as
    # numbers that convolutions take. full: with layers of full size.
    skips = [layer('e1', layer('i', unshuffled(f)))]
    for level in '2345':
        skips.append(layer(f'e{level}b', layer(f'e{level}a', skips[-1])))
    y = skips.pop()
    for name, narrow in (('d4', None), ('d3', 'u3'), ('d2', 'u2'), ('d1', None)):
        skip = skips.pop()
        y = layer(name, mean(upsampled(y, skip), skip))
        if name == 'd2':
            regressed = layer('reg', y)
        y = layer(narrow, y) if narrow else y
    if not full:
        return shuffled(layer('out', y), f), regressed
    y = torch.cat([shuffled(layer('h0', y), f), f], 1)
    return layer('out', layer('h1', y)), regressed


def convolved(x, weight, bias, stride=1):
    return F.conv2d(F.pad(x, (1,) * 4, 'replicate'), weight, bias, stride=stride)


def stride(name):
    return 2 if name in HALVING else 1


def whole_sums(name, weights, x):
    """A layer's sums before they are rounded down. weights: (weight (O, I, 3, 3), bias, shift)."""
    weight, bias, shift = (torch.as_tensor(t, device=x.device) for t in weights)
    return convolved(x, weight.to(x.dtype), bias.to(x.dtype), stride(name)) / 2.0**float(shift)


def whole_network(layer_sums, f, full):
    """Outputs of 'out' and 'reg' as whole numbers in 1/64."""
    # layer_sums(name, x): a layer's sums in units of its output, which are rounded down and cut off
    # here.
    def layer(name, x):
        least, most = (-32767, 32767) if name in LINEAR else (0, 127)
        return torch.floor(layer_sums(name, x)).clamp(least, most)
    out, regressed = wired(layer, lambda a, b: torch.floor((a + b + 1) / 2), f, full)
    return out[:, :2 * MODES].int(), regressed[:, :REGRESSED].int()


def described(layers, grey):
    """The learned descriptor's vectors (N, H, W, 64) of grey (N, H, W) of 0..255. layers."""
    # (weight, bias, shift) of each.
    kind = torch.float32 if grey.is_cuda else torch.float64
    x = grey.unsqueeze(1).to(kind).contiguous(memory_format=torch.channels_last)
    for i, (weight, bias, shift) in enumerate(layers):
        weight = weight.to(x).contiguous(memory_format=torch.channels_last)
        total = convolved(x, weight, bias.to(x))
        last = i == len(layers) - 1
        x = torch.floor(total / 2.0**shift).clamp(*((-32767, 32767) if last else (0, 127)))
    numbers = x.permute(0, 2, 3, 1).int()
    square = numbers.square().sum(-1, keepdim=True, dtype=torch.int64)
    length = torch.sqrt(square.double()).to(torch.int64)  # exact: below 2^53, then mended by one
    length = length - (length * length > square).long()
    length = length + ((length + 1) * (length + 1) <= square).long()
    scale = torch.where(length > 0, (1 << 30) // length.clamp(min=1), 0).int()
    return ((numbers * scale + (1 << 22)) >> 23).clamp(-63, 63).to(torch.int8)


# ---- the choice

def tables(device):
    i = torch.arange(128, dtype=torch.float64)
    weight = (4096 * torch.exp(-i / 16)).round()
    weight[127] = 0
    near = (256 * torch.exp(-i[:96] / 16 / 0.7)).round()
    return weight.int().to(device), near.int().to(device)


def regressed_base(d, known):
    """At a quarter of the size, 1/64 px: means of the known d of 4x4 pixels, if two are known."""
    pad = (0, -d.shape[2] % 4, 0, -d.shape[1] % 4)
    sums = lambda t: 16 * F.avg_pool2d(F.pad(t.double(), pad).unsqueeze(1), 4)[:, 0]
    count, all_ = sums(known), sums(torch.ones_like(d))
    enough = count >= 2
    n = torch.where(enough, count, all_).round().long()
    total = torch.where(enough, sums(d * known), sums(d)).round().long()
    return torch.div(4 * total + n // 2, n, rounding_mode='floor').int()


def modes_of(out, regressed, cand, known):
    """Logits and disparities in 1/64 px (N, MODES, H, W)."""
    g = (regressed_base(cand[:, 0], known).unsqueeze(1) + 8 * regressed)
    height, width = cand.shape[2:]

    def places(count, size):
        a = 2 * torch.arange(count, device=cand.device) - 3
        return (a >> 3).clamp(0, size - 1), ((a >> 3) + 1).clamp(0, size - 1), (a & 7).int()
    x0, x1, wx = places(width, g.shape[3])
    y0, y1, wy = places(height, g.shape[2])
    rows = g[:, :, y0] * (8 - wy).view(-1, 1) + g[:, :, y1] * wy.view(-1, 1)
    g = (rows[..., x0] * (8 - wx) + rows[..., x1] * wx + 32) >> 6
    return out[:, :MODES], torch.cat([4 * cand, g], 1) + out[:, MODES:]


def chosen(logits, modes, known, prior=PRIOR):
    """The chosen disparity in 1/64 px, and its support of 0..255."""
    weights, near = tables(modes.device)
    first = logits[:, :1] + prior * known.unsqueeze(1).int()
    logits = torch.cat([first, logits[:, 1:]], 1)
    w = weights[((logits.amax(1, keepdim=True) - logits) >> 2).clamp(max=127).long()]
    best, score = modes[:, 0], torch.full_like(modes[:, 0], -1)
    for k in range(MODES):
        apart = ((modes - modes[:, k:k + 1]).abs() >> 2).clamp(max=95)
        s = (w * near[apart.long()]).sum(1, dtype=torch.int32)
        best = torch.where(s > score, modes[:, k], best)
        score = torch.maximum(score, s)
    apart = modes - best.unsqueeze(1)
    close = w * (apart.abs() <= 64)
    total, moment = close.sum(1).int(), (close * apart).sum(1).int()
    shift = torch.div(2 * moment + total, (2 * total).clamp(min=1), rounding_mode='floor')
    return best + shift, (score // w.sum(1).int()).clamp(max=255)


# ---- pictures as the program compares them

def grey_of(picture):
    p = picture.int()
    return (77 * p[..., 0] + 150 * p[..., 1] + 29 * p[..., 2] + 128) >> 8


def census(grey):
    """Words (N, H, W) int64: which of 9x7 neighbours are darker."""
    padded = F.pad(grey.float().unsqueeze(1), (4, 4, 3, 3), 'replicate')[:, 0]
    height, width = grey.shape[1:]
    words = torch.zeros_like(grey, dtype=torch.int64)
    for y in range(7):
        for x in range(9):
            if (x, y) != (4, 3):
                words = words * 2 + (padded[:, y:y + height, x:x + width] < grey)
    return words


def rows_moved(picture, offsets):
    """A picture (H, W, C) moved up by offsets (3, 3) in 1/32 px: gpu/stages/row_offset.h."""
    height, width, _ = picture.shape

    def cells(count):
        i = torch.arange(count, device=picture.device)
        place = torch.div((2 * i + 1) * 384, count, rounding_mode='floor') - 128
        return place.clamp(0, 512)
    row, column = cells(height), cells(width)
    fy, fx = (row % 256).view(-1, 1), column % 256
    top, left = row // 256, column // 256
    low, right = (top + (fy[:, 0] > 0)), (left + (fx > 0))
    pick = lambda a, b: offsets.long()[a][:, b]
    offset = ((256 - fy) * ((256 - fx) * pick(top, left) + fx * pick(top, right)) +
              fy * ((256 - fx) * pick(low, left) + fx * pick(low, right)) + 32768) >> 16
    offset = offset.clamp(-64, 64)
    t = offset & 31
    weight = [(-1024 * t + 64 * t * t - t**3 + 2) >> 2, None,
              (1024 * t + 128 * t * t - 3 * t**3 + 2) >> 2, (-32 * t * t + t**3 + 2) >> 2]
    weight[1] = 16384 - weight[0] - weight[2] - weight[3]
    y = torch.arange(height, device=picture.device).view(-1, 1) + (offset >> 5) - 1
    x = torch.arange(width, device=picture.device)
    total = sum(w.unsqueeze(-1) * picture[(y + k).clamp(0, height - 1), x].long()
                for k, w in enumerate(weight))
    return ((total + 8192) >> 14).clamp(0, 255).to(torch.uint8)


# ---- the file

def read_file(path):
    """Lines on licence and training, the descriptor's layers, the choices of a weights file."""
    # Each layer has weight, bias, shift; each choice, by its descriptor, the layers by name,
    # the prior, the curve of chances.
    with open(path, 'rb') as file:
        head, numbers = file.read().split(b'\n\n', 1)
    about, layers, choices, at = [], [], {}, 0
    descriptors = iter(LAYERS)
    names = None

    def take(inputs, outputs):
        nonlocal at
        bias = np.frombuffer(numbers, '<i4', outputs, at)
        weight = np.frombuffer(numbers, 'i1', outputs * 9 * inputs, at + 4 * outputs)
        at += outputs * (4 + 9 * inputs)
        weight = weight.reshape(outputs, 3, 3, inputs).transpose(0, 3, 1, 2)
        return torch.from_numpy(weight.astype(np.float64)), torch.from_numpy(bias.astype(np.int64))
    for line in head.decode().split('\n'):
        word, *values = line.split(' ')
        if word in ('licence:', 'trained:'):
            about.append(line)
        elif word == 'layer':
            inputs, outputs, _, shift = map(int, values)
            layers.append((*take(inputs, outputs), shift))
        elif word == 'refine':
            inputs, outputs, _, shift = map(int, values)
            if not names:
                descriptor, weights = next(descriptors), {}
                names = list(LAYERS[descriptor])
            weights[names.pop(0)] = (*take(inputs, outputs), shift)
        elif word == 'choose':
            prior, *curve = map(int, values)
            choices[descriptor] = weights, prior, curve
    return about, layers, choices


def write_file(path, about, layers, choices):
    """The contents of a file, as read_file() gives them."""
    lines, numbers = ['livestereo-features 1', *about], b''

    def add(line, weight, bias):
        nonlocal numbers
        lines.append(line)
        numbers += torch.as_tensor(bias).numpy().astype('<i4').tobytes()
        weight = torch.as_tensor(weight).permute(0, 2, 3, 1).contiguous()
        numbers += weight.numpy().astype('i1').tobytes()
    for weight, bias, shift in layers:
        add(f'layer {weight.shape[1]} {weight.shape[0]} 1 {shift}', weight, bias)
    for descriptor in (d for d in LAYERS if d in choices):
        weights, prior, curve = choices[descriptor]
        for name, (inputs, outputs) in LAYERS[descriptor].items():
            weight, bias, shift = weights[name]
            add(f'refine {inputs} {outputs} {stride(name)} {int(shift)}', weight, bias)
        lines.append('choose ' + ' '.join(str(int(v)) for v in (prior, *curve)))
    code = 0xcbf29ce484222325  # FNV-1a
    for byte in numbers:
        code = (code ^ byte) * 0x100000001b3 % 2**64
    with open(path, 'wb') as file:
        file.write('\n'.join(lines + [f'hash {code:016x}', '', '']).encode() + numbers)
