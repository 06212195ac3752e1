#!/usr/bin/env python3
"""usage: solve_pictures.py denoise NOISY.png [--mask HOLES.png] -o CLEAN.png
       solve_pictures.py segment PHOTO.png --strokes STROKES.png -o OBJECT.png

Labelling problems that are made of pictures, for livestereo.solve(). Each function takes arrays of
pictures, (H, W) or (H, W, 3), and returns arguments of solve().
SPDX-License-Identifier: MIT
"""
import argparse
import sys

import numpy as np
from PIL import Image

FORBIDDEN = 65535  # what a label costs that strokes rule out
COLOURS = {"black": 0, "white": 255}  # of strokes, in the order of labels


def as_rgb(picture):
    return picture if picture.ndim == 3 else np.repeat(picture[..., None], 3, 2)


def denoise(picture, mask=None, hole=255):
    """Labels are grey levels, and label l costs (l - grey)^2; pixels whose mask is hole cost
    nothing, so that they follow their neighbours. The smoothness is truncated quadratic."""
    grey = as_rgb(picture).astype(int) @ [77, 150, 29] // 256
    cost = ((np.arange(256) - grey[..., None]) ** 2).astype(np.uint16)
    if mask is not None:
        cost[(as_rgb(mask) == hole).all(2)] = 0
    return {"cost": cost, "smoothness": "quadratic", "truncation": 1000}


def marks(strokes):
    """The label that strokes give each pixel, -1 where they are neither black nor white."""
    strokes = as_rgb(strokes)
    marked = np.full(strokes.shape[:2], -1)
    for label, (name, grey) in enumerate(COLOURS.items()):
        marked[(strokes == grey).all(2)] = label
        if not (marked == label).any():
            raise ValueError(f"strokes must mark some pixels {name}")
    if (marked >= 0).all():
        raise ValueError("strokes mark every pixel; leave the others grey, not transparent")
    return marked


def contrast_weights(picture):
    """255 exp(-d^2 / 2 mean d^2), at least 1, of the colour distance d along each edge."""
    steps = [(np.diff(picture.astype(float), axis=axis) ** 2).sum(2) for axis in (1, 0)]
    mean = max(sum(s.sum() for s in steps) / max(sum(s.size for s in steps), 1), 1)
    weights = [np.maximum(np.rint(255 * np.exp(-s / (2 * mean))), 1).astype(np.uint8)
               for s in steps]
    return np.pad(weights[0], ((0, 0), (0, 1))), np.pad(weights[1], ((0, 1), (0, 0)))


def segment(picture, strokes):
    """Label 1 is the object, of which strokes mark some pixels white, 0 the rest, marked black. A
    label costs 100 times the negative logarithm of how often its marked pixels have a pixel's
    colour, in 8x8x8 bins that each count one more (Boykov, Jolly 2001)."""
    picture, marked = as_rgb(picture), marks(strokes)
    bins = (picture >> 5).astype(int) @ [1, 8, 64]
    cost = np.empty(bins.shape + (2,), np.uint16)
    for label in range(2):
        count = np.bincount(bins[marked == label], minlength=512) + 1
        cost[..., label] = np.rint(-100 * np.log(count / count.sum()))[bins]
        cost[..., label][marked == label] = 0
        cost[..., label][marked == 1 - label] = FORBIDDEN
    right, down = contrast_weights(picture)
    return {"cost": cost, "smoothness": "potts", "lambda_": 2, "right": right, "down": down}


def read(path):
    if path is None:
        return None
    image = Image.open(path)
    return np.array(image if image.mode == "L" else image.convert("RGB"))


def main():
    import livestereo as ls  # the recipes themselves do not need it
    parser = argparse.ArgumentParser(description="Denoises or segments a picture.")
    parser.add_argument("recipe", choices=["denoise", "segment"])
    parser.add_argument("picture")
    for name in ("--mask", "--strokes"):
        parser.add_argument(name)
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    if given.recipe == "denoise":
        problem = denoise(read(given.picture), read(given.mask))
    else:
        problem = segment(read(given.picture), read(given.strokes))
    found = ls.solve(**problem, sweeps=given.sweeps)
    print(f"energy {found.energy:.15g}, lower bound {found.bound:.15g}")
    picture = found.label if given.recipe == "denoise" else 255 * found.label
    Image.fromarray(picture.astype(np.uint8)).save(given.output)


if __name__ == "__main__":
    sys.exit(main())
