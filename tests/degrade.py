#!/usr/bin/python3
"""Makes the pictures of pairs worse, as other cameras and light would, to measure robustness:
degrade.py KEYS OUT DIR... writes, for each folder DIR as eval takes it, OUT/NAME of DIR with
its truth. KEYS is a list such as noise=6,gain=1.3; what is not named changes nothing.

First the right picture alone is changed: smoothed by a Gaussian of sigma blur px; moved rows px up
(bilinear, its border repeated); a level v becomes w = 255 * (v / 255)^gamma, and that
gain * w * (1 - vignette * r^2) + offset, where r is 0 in the middle and 1 in the corners. Then both
pictures: the level times light, plus Gaussian noise of so many levels, each channel's its own, is
rounded and clamped to 0..255; jpeg: compressed with that quality, colours at half the resolution,
and decoded. The noise depends on seed and on the picture's size alone.
SPDX-License-Identifier: MIT
"""
import io
import math
import os
import sys

import numpy as np
from PIL import Image

UNCHANGED = {"blur": 0, "rows": 0, "gamma": 1, "gain": 1, "vignette": 0, "offset": 0, "light": 1,
             "noise": 0, "jpeg": 0, "seed": 1}
VIEWS = [("left", "right"), ("image_2", "image_3"), ("im0", "im1")]


def parse(text):
    keys = dict(UNCHANGED)
    for word in text.split(","):
        name, _, value = word.partition("=")
        if name not in keys:
            sys.exit(f"{name}: there are {', '.join(keys)}")
        keys[name] = float(value)
    return keys


def moved(levels, dx, dy):
    """levels[y + dy][x + dx], the border repeated."""
    rows, columns = (np.clip(np.arange(size) + by, 0, size - 1)
                     for size, by in zip(levels.shape, (dy, dx)))
    return levels[rows][:, columns]


def blur(levels, sigma):
    radius = math.ceil(3 * sigma)
    offsets = range(-radius, radius + 1)
    weights = [math.exp(-k * k / (2 * sigma * sigma)) for k in offsets]
    weights = [weight / sum(weights) for weight in weights]
    for dx, dy in ((1, 0), (0, 1)):
        levels = sum(weight * moved(levels, k * dx, k * dy)
                     for weight, k in zip(weights, offsets))
    return levels


def other_camera(levels, keys):
    if keys["blur"]:
        levels = blur(levels, keys["blur"])
    whole = math.floor(keys["rows"])
    part = keys["rows"] - whole
    levels = (1 - part) * moved(levels, 0, whole) + part * moved(levels, 0, whole + 1)
    y, x, _ = np.ogrid[-1:1:levels.shape[0] * 1j, -1:1:levels.shape[1] * 1j, 0:1]
    if keys["gamma"] != 1:
        levels = 255 * np.power(levels / 255, keys["gamma"])
    return keys["gain"] * (1 - keys["vignette"] * (x * x + y * y) / 2) * levels + keys["offset"]


def noise(random, shape):
    """Of the standard normal distribution (Box, Muller 1958)."""
    high, low = random.randint(0, 1 << 32, (math.prod(shape), 2, 2), np.uint32).T.astype(float)
    first, second = (low + high / 2**32) / 2**32
    return (np.sqrt(-2 * np.log(1 - first)) * np.cos(2 * np.pi * second)).reshape(shape)


def degrade(picture, keys, right, random):
    """Of a picture of levels (height, width, channels)."""
    levels = other_camera(picture.astype(float), keys) if right else picture.astype(float)
    levels = keys["light"] * levels
    if keys["noise"]:
        levels += keys["noise"] * noise(random, levels.shape)
    picture = np.floor(np.clip(levels, 0, 255) + 0.5).astype(np.uint8)
    if not keys["jpeg"]:
        return picture
    file = io.BytesIO()
    Image.fromarray(picture.squeeze()).save(file, "JPEG", quality=int(keys["jpeg"]), subsampling=2)
    return np.asarray(Image.open(file)).reshape(picture.shape)


def read(path):
    picture = Image.open(path)
    if picture.mode not in ("L", "RGB"):
        sys.exit(f"{path}: {picture.mode} is neither grey nor RGB of 8 bits")
    return picture


def degrade_pair(paths, targets, keys):
    pictures = [read(path) for path in paths]
    if pictures[0].mode != pictures[1].mode:
        pictures = [picture.convert("RGB") for picture in pictures]
    random = np.random.RandomState(int(keys["seed"]))
    for right, (picture, target) in enumerate(zip(pictures, targets)):
        levels = np.atleast_3d(np.asarray(picture))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        Image.fromarray(degrade(levels, keys, right, random).squeeze()).save(target)


def degrade_folder(folder, out, keys):
    """A folder of one pair, or folders of pictures; the rest of it is linked to."""
    names = set(os.listdir(folder))
    left, right = next(views for views in VIEWS if names & {views[0], views[0] + ".png"})
    os.makedirs(out, exist_ok=True)
    for name in names - {left, right, left + ".png", right + ".png"}:
        os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(out, name))
    endings = [f"/{name}" for name in os.listdir(os.path.join(folder, left))
               ] if left in names else [".png"]
    for ending in endings:
        degrade_pair(*[[os.path.join(at, view) + ending for view in (left, right)]
                       for at in (folder, out)], keys)


def main():
    if len(sys.argv) < 4:
        sys.exit("usage: degrade.py KEY=VALUE,... OUT DIR...")
    for folder in sys.argv[3:]:
        name = os.path.basename(os.path.abspath(folder))
        degrade_folder(folder, os.path.join(sys.argv[2], name), parse(sys.argv[1]))


if __name__ == "__main__":
    main()
