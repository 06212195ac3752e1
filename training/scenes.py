# SPDX-License-Identifier: MIT
"""Ray-cast pairs with exact disparities (scene_lot.h), their textures, what cameras do to them."""
import ctypes
import io
import math
import os
import subprocess

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
SIDE, LEVELS_PIXELS = 512, (4 * 512 * 512 - 1) // 3  # of a texture (cast.h)
WIDTH, HEIGHT = 640, 384  # of a pair
DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


# ---- textures

def squares(folder, most=5):
    """Squares of SIDE x SIDE of the photographs in a folder, at two sizes: (N, SIDE, SIDE, 3)."""
    out = []
    for name in sorted(os.listdir(folder)):
        with Image.open(os.path.join(folder, name)) as file:
            picture = file.convert('RGB')
        found = []
        for least in sorted({min(SIDE + 48, *picture.size), min(2 * SIDE + 76, *picture.size)}):
            k = max(least, SIDE) / min(picture.size)
            small = np.asarray(picture.resize([max(SIDE, round(k * n)) for n in picture.size],
                                              Image.LANCZOS))
            found += [small[y:y + SIDE, x:x + SIDE]
                      for y in range(0, small.shape[0] - SIDE + 1, SIDE)
                      for x in range(0, small.shape[1] - SIDE + 1, SIDE)]
        found = [s for s in found if np.abs(np.diff(s.mean(2), axis=1)).mean() > 0.8]
        out += found[::max(1, math.ceil(len(found) / most))]
    return torch.from_numpy(np.stack(out))


def noise(count, octaves, falloff, generator):
    """Fractional Brownian motion (count, SIDE, SIDE) of mean 0 and deviation 1."""
    total = 0
    for i in range(octaves):
        size = min(SIDE, 3 << i)
        coarse = torch.randn(count, 1, size, size, generator=generator)
        total = total + falloff**i * F.interpolate(coarse, (SIDE, SIDE), mode='bicubic')[:, 0]
    return (total - total.mean((1, 2), keepdim=True)) / total.std((1, 2), keepdim=True)


def drawn(count, generator):
    """Procedural textures in colour: noise, stripes, checks, bricks, dots, print, bars."""
    lot = lambda a, b: float(a + (b - a) * torch.rand((), generator=generator))
    y, x = torch.meshgrid(torch.arange(SIDE), torch.arange(SIDE), indexing='ij')
    out = []
    for i in range(count):
        period, angle = lot(4, 60), lot(0, math.pi) if lot(0, 1) < 0.6 else 0
        u = (x * math.cos(angle) + y * math.sin(angle)) / period
        v = (y * math.cos(angle) - x * math.sin(angle)) / period * lot(0.5, 2)
        fine, rough = noise(1, 8, 0.95, generator)[0], noise(1, 6, 0.7, generator)[0]
        t = (lambda: noise(1, 8, lot(0.5, 1), generator)[0],
             lambda: torch.sin(2 * math.pi * (u + 0.1 * rough)),
             lambda: torch.sign(torch.sin(math.pi * u) * torch.sin(math.pi * v)),
             lambda: 0.3 * fine - 2.0 * (((u + 0.5 * (v.floor() % 2)) % 1 < 0.08) | (v % 1 < 0.12)),
             lambda: torch.sign((u % 1 - 0.5)**2 + (v % 1 - 0.5)**2 - lot(0.02, 0.15)),
             lambda: -2.0 * ((v % 1 < 0.5) & (fine > lot(-0.5, 0.5))),
             lambda: fine + 2 * torch.sign(rough),
             lambda: 2.0 * (u % 1 < lot(0.1, 0.6)) + 0.1 * fine)[i % 8]()
        t = (t - t.mean()) / (t.std() + 1e-6)
        colour = lot(20, 70) * torch.tensor([lot(0.4, 1) for _ in range(3)])
        out.append(128 + t.unsqueeze(-1) * colour + 3 * fine.unsqueeze(-1))
    return torch.stack(out).clamp(0, 255).to(torch.uint8)


def textures(folder, generator):
    """All textures with their smaller levels (N, LEVELS_PIXELS, 4); how many of each kind."""
    waves = 128 + 60 * torch.cat([noise(4, 7, f, generator) for f in (0.5, 0.65, 0.85)])
    waves = waves.clamp(0, 255).to(torch.uint8).unsqueeze(-1).expand(-1, -1, -1, 3)
    kinds = squares(folder), drawn(72, generator), waves
    t = F.pad(torch.cat(kinds), (0, 1)).permute(0, 3, 1, 2).to(DEVICE, torch.float32)
    t = (t + 128 - t[:, :3].mean((1, 2, 3), keepdim=True)).clamp(0, 255)
    pool, at = torch.zeros(len(t), LEVELS_PIXELS, 4, dtype=torch.uint8, device=DEVICE), 0
    while t.shape[2]:
        n = t.shape[2]**2
        pool[:, at:at + n] = t.round().to(torch.uint8).permute(0, 2, 3, 1).reshape(len(t), n, 4)
        t, at = F.avg_pool2d(t, 2) if t.shape[2] > 1 else t[:, :, :0], at + n
    return pool.cpu(), [len(k) for k in kinds]


# ---- pairs

def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


LIBRARY = os.path.join(HERE, 'libscene.so')


def build():
    """Compiles the caster where it is older than its sources."""
    source = [os.path.join(HERE, name)
              for name in ('scene.cu', 'scene_lot.h', '../capture/synth/cast.h')]
    if not os.path.exists(LIBRARY) or any(os.path.getmtime(LIBRARY) < os.path.getmtime(s)
                                          for s in source):
        subprocess.run(['nvcc', '-O3', '--use_fast_math', '-arch=native', '-shared',
                        '-I', os.path.join(HERE, '..'), '-Xcompiler', '-fPIC,-fopenmp',
                        source[0], '-o', f'{LIBRARY}.{os.getpid()}'], check=True)
        os.replace(f'{LIBRARY}.{os.getpid()}', LIBRARY)


class Caster:
    """Casts scenes of seeds, with what textures() gives."""

    def __init__(self, pool, counts):
        self.library = ctypes.CDLL(LIBRARY)
        self.host, self.pool, self.counts = pool, pool.to(DEVICE), counts

    def cast(self, count, seed):
        """Pictures (count, 2, HEIGHT, WIDTH, 3) uint8, true disparities, seen, largest disparities,
        rows that the right picture is off."""
        scenes = np.empty((count, self.library.scene_bytes()), np.uint8)
        largest = np.empty(count, np.float32)
        self.library.scenes_draw(scenes.ctypes.data_as(ctypes.c_void_p), count,
                                 ctypes.c_uint64(seed), pointer(self.host),
                                 (ctypes.c_int * 3)(*self.counts), WIDTH, HEIGHT,
                                 largest.ctypes.data_as(ctypes.c_void_p))
        rows_off = scenes[:, 36:40].copy().view(np.float32)[:, 0]  # struct scene's rows_off
        on_gpu = torch.from_numpy(scenes).to(DEVICE)
        make = lambda *shape, t=torch.uint8: torch.empty(count, *shape, dtype=t, device=DEVICE)
        rgb, seen = make(2, HEIGHT, WIDTH, 3), make(HEIGHT, WIDTH)
        d = make(HEIGHT, WIDTH, t=torch.float32)
        error = self.library.scenes_cast(pointer(on_gpu), count, pointer(self.pool), pointer(rgb),
                                         pointer(d), pointer(seen), WIDTH, HEIGHT, stream())
        assert not error, f'CUDA error {error}'
        return rgb, d, seen > 0, largest, rows_off

    def features(self, d, confidence, left, right, words):
        """The evidence of a pair (48, H, W), candidates (13, H, W), which pixels passed (H, W)."""
        # words: of both pictures, vectors (H, W, 64) int8 or census (H, W) int64.
        make = lambda t, *k: torch.empty(*k, *d.shape, dtype=t, device=DEVICE)
        f, cand, known = make(torch.uint8, 48), make(torch.int16, 13), make(torch.bool)
        tensors = [t.contiguous() for t in (d, confidence, left, right, *words)]
        tensors += make(torch.int16, 4), make(torch.uint8, 4), f, cand, known
        error = self.library.features_find(*map(pointer, tensors), d.shape[1], d.shape[0],
                                           words[0].dim() == 2, stream())
        assert not error, f'CUDA error {error}'
        return f, cand, known


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream if DEVICE.type == 'cuda' else 0)


def spread(d):
    """Largest minus least of disparities d (N, H, W) within 7x7 pixels."""
    d = d.unsqueeze(1)
    return (F.max_pool2d(d, 7, 1, 3) + F.max_pool2d(-d, 7, 1, 3))[:, 0]


def degraded(rgb, generator):
    """Does what cameras do: exposure and gamma of both and of one eye, blur, noise."""
    n = len(rgb)

    def lot(a, b, eyes=1):
        return a + (b - a) * torch.rand(n, eyes, 1, 1, 1, device=DEVICE, generator=generator)

    def some(p, value, neutral):
        return torch.where(lot(0, 1) < p, value, torch.full_like(value, neutral))
    one = (lot(0, 1) < 0.25) & (lot(0, 1, 2) < 0.5)
    only = lambda value, neutral: torch.where(one, value, torch.full_like(value, neutral))
    x = rgb.float() / 255
    x = torch.where(lot(0, 1) < 0.2, x.mean(-1, keepdim=True), x)  # grey
    x = x**(some(0.4, lot(0.6, 1.5), 1) * only(lot(0.85, 1.2, 2), 1))
    dark = lot(0, 1) < 0.08
    gain = torch.where(dark, lot(0.15, 0.4), some(0.45, lot(0.55, 1.8), 1))
    x = x * gain * only(lot(0.8, 1.25, 2), 1) + only(lot(-0.05, 0.05, 2), 0)
    sigma = some(0.5, lot(0.3, 0.9), 0.05) + only(some(0.3, lot(0, 0.8, 2), 0), 0)
    taps = torch.arange(-2, 3, device=DEVICE)
    taps = torch.exp(-taps**2 / (2 * sigma.expand(n, 2, 1, 1, 1).reshape(-1, 1)**2))
    taps = (taps / taps.sum(1, keepdim=True)).repeat_interleave(3, 0)
    x = x.permute(0, 1, 4, 2, 3).reshape(1, 6 * n, HEIGHT, WIDTH)
    x = F.conv2d(F.pad(x, (2, 2, 0, 0), 'replicate'), taps.view(-1, 1, 1, 5), groups=6 * n)
    x = F.conv2d(F.pad(x, (0, 0, 2, 2), 'replicate'), taps.view(-1, 1, 5, 1), groups=6 * n)
    x = x.view(n, 2, 3, HEIGHT, WIDTH).permute(0, 1, 3, 4, 2)
    deviation = torch.exp(lot(math.log(0.3), math.log(3))) * some(0.12, lot(1, 3), 1)
    white = torch.randn(x.shape, device=DEVICE, generator=generator)
    return (255 * x + deviation * white).round().clamp(0, 255).to(torch.uint8)


def make_worse(rgb, generator):
    """Gives a tenth of the pairs (N, 2, H, W, 3) strong noise, and a tenth JPEG."""
    for pair, (kind, much) in zip(rgb, torch.rand(len(rgb), 2, generator=generator,
                                                  device=DEVICE).tolist()):
        if kind < 0.1:
            noise = torch.randn(pair.shape, device=DEVICE, generator=generator)
            pair[:] = (pair + (3 + 11 * much) * noise).round().clamp(0, 255)
        elif kind < 0.2:
            pair[:] = torch.stack([compressed(eye, int(20 + 65 * much)) for eye in pair])


def compressed(picture, quality):
    """A picture (H, W, 3) after JPEG."""
    file = io.BytesIO()
    Image.fromarray(picture.cpu().numpy()).save(file, 'JPEG', quality=quality)
    return torch.from_numpy(np.array(Image.open(file))).to(DEVICE)
