# SPDX-License-Identifier: MIT
"""Synthetic stereo pairs with exact disparities, made of photographs on surfaces, on the GPU.

A scene is a background and a few surfaces in front of it. A surface has a texture, a disparity
d(x, y) over the pixels of the left picture (a plane with a wave on it), and an outline. Both views
are drawn backwards: a right pixel xr sees the left coordinate x with x - d(x, y) = xr.
"""
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

SIDE = 768  # pixels along a texture
SURFACES = 5  # with the background
LABELS = 64
ROWS, COLUMNS = 32, 320  # of a pair
DRAWN = 2  # samples along each axis of a pixel


def cut(grey, least=1.0):
    """Squares of SIDE x SIDE from a picture (H, W), those with enough texture, at two sizes."""
    import cv2
    squares = []
    sizes = sorted({min(1.0, 800 / min(grey.shape)), min(1.0, 1600 / min(grey.shape))})
    for scale in sizes:
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        if min(small.shape) < SIDE:
            small = cv2.copyMakeBorder(small, 0, max(0, SIDE - small.shape[0]), 0,
                                       max(0, SIDE - small.shape[1]), cv2.BORDER_REFLECT)
        rows = range(0, small.shape[0] - SIDE + 1, SIDE // 2 if scale == sizes[0] else SIDE)
        columns = range(0, small.shape[1] - SIDE + 1, SIDE // 2 if scale == sizes[0] else SIDE)
        for y in rows:
            for x in columns:
                square = small[y:y + SIDE, x:x + SIDE]
                if np.abs(np.diff(square.astype(np.float32), axis=1)).mean() >= least:
                    squares.append(square)
    return squares


def photographs(folder, most=6):
    """Textures of the photographs in a folder, (N, SIDE, SIDE) uint8; at most `most` of each."""
    import cv2
    textures = []
    for name in sorted(os.listdir(folder)):
        grey = cv2.imread(os.path.join(folder, name), cv2.IMREAD_GRAYSCALE)
        if grey is None:
            continue
        squares = cut(grey)
        step = max(1, math.ceil(len(squares) / most))
        textures += squares[::step]
    return np.stack(textures)


def noise(random, octaves, falloff):
    """Fractional Brownian motion, (SIDE, SIDE) float of mean 0 and deviation 1."""
    import cv2
    total = np.zeros((SIDE, SIDE), np.float32)
    for i in range(octaves):
        size = min(SIDE, 3 << i)
        coarse = random.standard_normal((size, size)).astype(np.float32)
        total += falloff**i * cv2.resize(coarse, (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
    return (total - total.mean()) / total.std()


def procedural(random, count):
    """Textures (count, SIDE, SIDE) uint8: noise, stripes, checks, bricks, dots, lines of print."""
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    textures = []
    for i in range(count):
        period = random.uniform(4, 60)
        angle = random.uniform(0, math.pi)
        u = (x * math.cos(angle) + y * math.sin(angle)) / period
        v = (y * math.cos(angle) - x * math.sin(angle)) / period * random.uniform(0.5, 2)
        kind = i % 7
        if kind == 0:
            t = noise(random, 9, random.uniform(0.5, 1.0))
        elif kind == 1:
            t = np.sin(2 * math.pi * (u + 0.1 * noise(random, 5, 0.6)))
        elif kind == 2:
            t = np.sign(np.sin(math.pi * u) * np.sin(math.pi * v))
        elif kind == 3:
            t = ((u + 0.5 * (np.floor(v) % 2)) % 1 < 0.08) | (v % 1 < 0.12)
            t = 1.0 - 2 * t + 0.3 * noise(random, 8, 0.8)
        elif kind == 4:
            t = np.sign(((u % 1) - 0.5)**2 + ((v % 1) - 0.5)**2 - random.uniform(0.02, 0.15))
        elif kind == 5:
            t = (v % 1 < 0.5) & (noise(random, 9, 0.95) > random.uniform(-0.5, 0.5))
            t = 1.0 - 2 * t
        else:
            t = noise(random, 9, 0.9) + 2 * np.sign(noise(random, 6, 0.7))
        t = (t - t.mean()) / (t.std() + 1e-6)
        t = t * random.uniform(5, 60) + random.uniform(70, 180) + 2 * noise(random, 9, 0.9)
        textures.append(np.clip(t, 0, 255).astype(np.uint8))
    return np.stack(textures)


def sample(pool, index, x, y):
    """Bilinear samples of pool (N, SIDE, SIDE) at x, y, the textures mirrored without end."""
    period = 2 * SIDE - 2
    x = (SIDE - 1) - ((x % period) - (SIDE - 1)).abs()
    y = (SIDE - 1) - ((y % period) - (SIDE - 1)).abs()
    x0 = x.floor().clamp(max=SIDE - 2)
    y0 = y.floor().clamp(max=SIDE - 2)
    fx, fy = x - x0, y - y0
    flat = pool.view(-1)
    i = index * (SIDE * SIDE) + y0.long() * SIDE + x0.long()
    top = flat[i].float() * (1 - fx) + flat[i + 1].float() * fx
    bottom = flat[i + SIDE].float() * (1 - fx) + flat[i + SIDE + 1].float() * fx
    return top * (1 - fy) + bottom * fy


class Scenes:
    """A batch of scenes, drawn by lot. pool: textures; waves: textures of outlines."""

    def __init__(self, pool, waves, count, generator):
        self.pool, self.waves, self.count = pool, waves, count
        device = pool.device

        def lot(low, high, n=SURFACES):
            r = torch.rand(count, n, 1, 1, generator=generator, device=device)
            return low + (high - low) * r

        def chance(p, n=SURFACES):
            return lot(0, 1, n) < p

        def normal(deviation):
            return deviation * torch.randn(count, SURFACES, 1, 1, generator=generator,
                                           device=device)
        back = torch.arange(SURFACES, device=device).view(1, -1, 1, 1) == 0
        floor = chance(0.4)
        self.slope_x = torch.where(chance(0.5), normal(0.06), normal(0.01)).clamp(-0.25, 0.25)
        self.slope_y = torch.where(floor, lot(0.02, 0.35), normal(0.03)).clamp(-0.2, 0.35)
        self.wave = torch.where(chance(0.3), lot(0, 2.5), lot(0, 0))
        self.wave_length, self.wave_start = lot(80, 300), lot(0, 6.28)
        base = lot(1, 30, 1)
        self.base = torch.where(back, base, base + lot(1, 1) * lot(0, 1)**2 * 32)
        self.x0, self.y0 = lot(60, COLUMNS), lot(0, ROWS)
        # Outline: |u|^power + |v|^power < 1 in axes that are turned; repeated along u for fences.
        thin = chance(0.35)
        self.radius_x = torch.where(thin, lot(0.7, 4), lot(8, 70))
        self.radius_y = torch.where(thin, lot(20, 200), lot(8, 60))
        angle = torch.where(thin, normal(0.5), lot(0, 3.14))
        self.cos, self.sin = angle.cos(), angle.sin()
        self.power = 2.0**lot(0, 4)
        self.period = torch.where(chance(0.25) & thin, lot(3, 8) * self.radius_x, lot(1e6, 1e6))
        self.wavy = torch.where(thin, lot(0, 0.2), lot(0, 0.7))
        self.wave_index = self._index(waves, generator)
        self.exists = (chance(0.75) & (lot(0, 1, 1) < 0.9)) | back
        self.back = back
        # Texture: turned, scaled, of some contrast.
        self.index = self._index(pool, generator)
        turn, scale = lot(0, 6.28), 2.0**lot(-1.0, 1.2)
        self.ux, self.uy = turn.cos() * scale, turn.sin() * scale
        self.u0, self.v0 = lot(0, 2 * SIDE), lot(0, 2 * SIDE)
        contrast = torch.where(chance(0.3), lot(0.08, 0.5), lot(0.6, 1.2))
        self.contrast, self.mean = contrast, lot(60, 190)
        self.keep_mean = chance(0.5)

    def _index(self, pool, generator):
        return torch.randint(len(pool), (self.count, SURFACES, 1, 1), generator=generator,
                             device=pool.device)

    def disparity(self, x, y):
        d = self.base + self.slope_x * (x - self.x0) + self.slope_y * (y - self.y0)
        d = d + self.wave * torch.sin(6.2832 * x / self.wave_length + self.wave_start)
        return d.clamp(0.0, LABELS - 2.0)

    def covers(self, x, y):
        u = (x - self.x0) * self.cos + (y - self.y0) * self.sin
        v = (y - self.y0) * self.cos - (x - self.x0) * self.sin
        u = (u + self.period / 2) % self.period - self.period / 2
        i = ((4 * y).long() % SIDE) * SIDE + (4 * x).long() % SIDE
        wave = self.waves.view(-1)[self.wave_index * (SIDE * SIDE) + i].float()
        wavy = 1 + self.wavy * (wave / 128 - 1)
        inside = ((u / (self.radius_x * wavy)).abs()**self.power +
                  (v / (self.radius_y * wavy)).abs()**self.power) < 1
        return (inside & self.exists) | self.back

    def view(self, right, dy=0.0):
        """One view: grey (count, ROWS, COLUMNS) of 0..255 and disparities, samples of a pixel."""
        device = self.pool.device
        y = (torch.arange(ROWS * DRAWN, device=device).float() + 0.5) / DRAWN - 0.5
        x = (torch.arange(COLUMNS * DRAWN, device=device).float() + 0.5) / DRAWN - 0.5
        y = y.view(1, 1, -1, 1).expand(self.count, 1, -1, len(x)) + dy
        seen = x.view(1, 1, 1, -1)
        x = seen.expand(self.count, SURFACES, y.shape[2], -1)
        if right:
            for _ in range(4):
                x = seen + self.disparity(x, y)
        d = self.disparity(x, y)
        order = torch.where(self.covers(x, y), d, torch.full_like(d, -1.0))
        best = order.argmax(1, keepdim=True)
        pick = lambda t: t.expand(-1, -1, *d.shape[2:]).gather(1, best)
        d, x = pick(d), pick(x)
        u = x * pick(self.ux) + y * pick(self.uy) + pick(self.u0)
        v = y * pick(self.ux) - x * pick(self.uy) + pick(self.v0)
        grey = sample(self.pool, pick(self.index), u, v)
        contrast = pick(self.contrast)
        mean = torch.where(pick(self.keep_mean), torch.full_like(grey, 128.0), pick(self.mean))
        grey = (grey - 128) * contrast + mean
        grey = F.avg_pool2d(grey.clamp(0, 255), DRAWN)[:, 0]
        n = self.count
        parts = d[:, 0].view(n, ROWS, DRAWN, COLUMNS, DRAWN).permute(0, 1, 3, 2, 4)
        return grey, parts.reshape(n, ROWS, COLUMNS, -1).sort(-1).values


def pairs(pool, waves, count, generator):
    """count pairs: left, right (count, ROWS, COLUMNS) of 0..255, true disparity, visible, edge."""
    device = pool.device
    scenes = Scenes(pool, waves, count, generator)

    def lot(low, high):
        r = torch.rand(count, 1, 1, 1, generator=generator, device=device)
        return low + (high - low) * r
    # Rows off: of a third of the pairs by up to 0.6, of some by up to 1.2 pixels.
    kind = lot(0, 1)
    dy = torch.where(kind < 0.3, lot(-0.6, 0.6), torch.where(kind < 0.4, lot(-1.2, 1.2),
                                                             lot(-0.1, 0.1)))
    left, sorted_left = scenes.view(False)
    right, sorted_right = scenes.view(True, dy)
    d = sorted_left[..., DRAWN * DRAWN // 2]
    other = sorted_right[..., DRAWN * DRAWN // 2]
    x = torch.arange(COLUMNS, device=device).float()
    at = (x - d).round().long()
    back = other.gather(2, at.clamp(0, COLUMNS - 1))
    visible = (at >= 0) & ((back - d).abs() < 1)
    high = F.max_pool2d(d[:, None], 7, 1, 3)[:, 0]
    low = -F.max_pool2d(-d[:, None], 7, 1, 3)[:, 0]
    return left, right, d, visible, (high - low) > 2.5


JPEG = torch.tensor([  # ITU-T T.81, table K.1
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
    92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99]).view(8, 8).float()


def compress(image, quality):
    """JPEG's loss on luma: image (N, H, W), quality (N, 1, 1) of 1..100."""
    n, h, w = image.shape
    k = torch.arange(8, device=image.device).float()
    dct = torch.cos((2 * k[None] + 1) * k[:, None] * math.pi / 16) * 0.5
    dct[0] = math.sqrt(1 / 8)
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality) / 100
    table = (JPEG.to(image.device)[None] * scale).round().clamp(1, 255)[:, None, None]
    blocks = (image - 128).view(n, h // 8, 8, w // 8, 8).transpose(2, 3)
    coefficients = ((dct @ blocks @ dct.T) / table).round() * table
    return (dct.T @ coefficients @ dct).transpose(2, 3).reshape(n, h, w) + 128


def degrade(left, right, generator, share=0.5):
    """What cameras do, to each eye by itself; (N, H, W) of whole numbers 0..255. share: of the pairs
    that become much worse; the others stay nearly clean."""
    n, h, w = left.shape
    device = left.device

    def lot(low, high):
        return low + (high - low) * torch.rand(n, 1, 1, generator=generator, device=device)

    def some(p, value, neutral):
        return torch.where(lot(0, 1) < p, value, torch.full_like(value, neutral))
    worse = lot(0, 1) < share
    common = some(0.5, lot(0.5, 1.3), 1), some(0.3, lot(0.6, 1.6), 1)
    deviation = torch.where(worse & (lot(0, 1) < 0.35), lot(2, 14), lot(0.3, 2.0))
    dark = worse & (lot(0, 1) < 0.12)
    quality = torch.where(worse & (lot(0, 1) < 0.25), lot(20, 85), lot(101, 101))
    eye = lot(0, 1) < 0.5
    y = torch.linspace(-1, 1, h, device=device).view(1, -1, 1)
    x = torch.linspace(-1, 1, w, device=device).view(1, 1, -1)
    out = []
    for side, image in enumerate((left, right)):
        mine = worse & (eye if side else ~eye)
        sigma = torch.where(mine & (lot(0, 1) < 0.3), lot(0.3, 1.3), lot(0.01, 0.3))
        taps = torch.exp(-torch.arange(-3, 4, device=device).view(1, -1)**2 /
                         (2 * sigma.view(-1, 1)**2))
        taps = (taps / taps.sum(1, keepdim=True)).view(n, 1, 7, 1)
        image = F.conv2d(F.pad(image[None], (0, 0, 3, 3), 'replicate'), taps, groups=n)
        image = F.conv2d(F.pad(image, (3, 3, 0, 0), 'replicate'), taps.transpose(2, 3),
                         groups=n)[0]
        gamma = common[1] * torch.where(mine, some(0.3, lot(0.7, 1.4), 1), lot(1, 1))
        gain = common[0] * torch.where(mine, some(0.5, lot(0.65, 1.5), 1), lot(1, 1))
        gain = torch.where(dark, gain * 0.25, gain)
        image = 255 * (image.clamp(0, 255) / 255)**gamma * gain
        image = image + torch.where(mine, some(0.4, lot(-20, 20), 0), lot(0, 0))
        vignette = some(0.2, lot(0.1, 0.7), 0) * mine
        image = image * (1 - vignette * ((x - lot(-1, 1))**2 + 0.3 * (y - lot(-1, 1))**2) / 4)
        glare = some(0.15, lot(10, 80), 0) * mine
        cx, cy, size = lot(-1, 1), lot(-1, 1), lot(0.03, 0.5)
        image = image + glare * torch.exp(-((x - cx)**2 + (y - cy)**2 * 0.03) / size**2)
        white = torch.randn(n, h, w, generator=generator, device=device)
        image = (image + deviation * white).round().clamp(0, 255)
        image = torch.where(quality > 100, image, compress(image, quality))
        out.append(image.round().clamp(0, 255))
    return out
