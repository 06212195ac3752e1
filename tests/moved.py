#!/usr/bin/python3
"""Measures motion of which no truth is known, by motion compensation: moved.py PROGRAM PRESET DIR
[MASK], of the numbered pictures DIR/000000.png and so on; the white of MASK is left out. For each
picture and the next one it prints the mean difference in grey levels at the same place (still) and
after moving (moved), the ratio of both, the same ratio where the motion is used from the next
picture to the one after it (next), and the mean change of the motion since the step before, in px
(flicker); in the end the means. Pixels count whose motion is known and leads into the picture, and
whose samples are not left out. SPDX-License-Identifier: MIT
"""
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

FIGURES = ("still", "moved", "ratio", "next", "flicker")


def read_flo(path):
    """(2, height, width) in px; NaN where it is unknown."""
    width, height = np.fromfile(path, np.int32, 2, offset=4)
    flow = np.fromfile(path, np.float32, offset=12).reshape(height, width, 2).astype(float)
    return np.where(flow > 1e9, np.nan, flow).transpose(2, 0, 1)


def differences(motion, before, after, left_out):
    """still and moved, summed over pixels, and how many count. Pictures are (height, width,
    channels), sampled between pixels by bilinear interpolation."""
    height, width = left_out.shape
    y, x = np.mgrid[:height, :width]
    u, v = motion
    with np.errstate(invalid="ignore"):
        inside = ((x + u >= 0) & (y + v >= 0) & (x + u <= width - 1) & (y + v <= height - 1) &
                  ~left_out)
    y, x, u, v = y[inside], x[inside], u[inside], v[inside]
    x0, y0 = np.floor(x + u).astype(int), np.floor(y + v).astype(int)
    part_x, part_y = x + u - x0, y + v - y0
    sample, masked = 0, np.zeros(len(x), bool)
    for dy in (0, 1):
        for dx in (0, 1):
            at = np.minimum(y0 + dy, height - 1), np.minimum(x0 + dx, width - 1)
            weight = (part_x if dx else 1 - part_x) * (part_y if dy else 1 - part_y)
            sample = sample + weight[:, None] * after[at]
            masked |= left_out[at]
    here, there = before[y, x].astype(float), after[y, x].astype(float)
    keep = ~masked
    return (abs(there - here).mean(1)[keep].sum(), abs(sample - here).mean(1)[keep].sum(),
            int(keep.sum()))


def change(motion, last, left_out):
    off = np.hypot(*(motion - last))[~left_out]
    return np.nanmean(off)


def measure(motions, pictures, left_out):
    """Rows of FIGURES, NaN where there is none."""
    for i, motion in enumerate(motions):
        still, moved, count = differences(motion, pictures[i], pictures[i + 1], left_out)
        later = np.nan, np.nan, 0
        if i + 2 < len(pictures):
            later = differences(motion, pictures[i + 1], pictures[i + 2], left_out)
        yield (still / count, moved / count, moved / still, later[1] / later[0],
               change(motion, motions[i - 1], left_out) if i else np.nan)


def main(program, preset, folder, mask=None):
    paths = sorted(glob.glob(os.path.join(folder, "[0-9]*.png")))
    pictures = [np.atleast_3d(np.array(Image.open(path))) for path in paths]
    left_out = np.array(Image.open(mask).convert("L")) == 255 if mask else \
        np.zeros(pictures[0].shape[:2], bool)
    with tempfile.TemporaryDirectory() as out:
        command = [program, "batch", "-q", "--preset", preset, os.path.join(folder, "%06d.png"),
                   "-o", out, "--save", "flo"]
        subprocess.run(command + (["--mask", mask] if mask else []), check=True)
        motions = [read_flo(path) for path in sorted(glob.glob(os.path.join(out, "*.flo")))]
    rows = list(measure(motions, pictures, left_out))
    print("step  " + "".join(f"{name:>9}" for name in FIGURES))
    for name, row in [*enumerate(rows), ("mean", np.nanmean(rows, 0))]:
        print(f"{name:<6}" + "".join(f"{value:9.3f}" for value in row))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: moved.py PROGRAM PRESET DIR [MASK]")
    main(*sys.argv[1:])
