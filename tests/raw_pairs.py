#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: raw_pairs.py DATA FOLDER
Writes real pairs of the folder DATA (../shared/data) for `bench_gpu --pairs FOLDER`: files
WIDTHxHEIGHT_LABELS_NAME.rgb with the pixels of both pictures, left and right, in RGB. Those that
are missing are left out."""
import pathlib
import sys

from PIL import Image

PAIRS = [("teddy", "middlebury/teddy/{}.png", 64, 1),
         ("kitti", "driving/kitti2015_pair/{}/000005.png", 128, 1),
         ("kitti_noisy", "driving/kitti_0005_noisy/{}/000000.png", 128, 1),
         ("motorcycle", "middlebury/motorcycle/{}.png", 64, 1),
         ("aloe", "middlebury/aloe/{}.png", 224, 1),
         ("motorcycle_enlarged", "middlebury/motorcycle/{}.png", 256, 4)]

data, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
for name, pattern, labels, scale in PAIRS:
    paths = [data / pattern.format(side) for side in ("left", "right")]
    if not all(path.exists() for path in paths):
        print(f"{name}: not there")
        continue
    pictures = [Image.open(path).convert("RGB") for path in paths]
    width, height = (scale * side for side in pictures[0].size)
    with open(folder / f"{width}x{height}_{labels}_{name}.rgb", "wb") as out:
        for picture in pictures:
            out.write(picture.resize((width, height), Image.BICUBIC).tobytes())
