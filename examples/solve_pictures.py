#!/usr/bin/env python3
"""usage: solve_pictures.py denoise NOISY.png [--mask HOLES.png] -o CLEAN.png
       solve_pictures.py segment PHOTO.png --strokes STROKES.png -o OBJECT.png
       solve_pictures.py montage A.png B.png... [--strokes STROKES.png] [--footprints] -o ALL.png

Labelling problems that are made of pictures, for livestereo.solve(). Each function takes arrays of
pictures, (H, W) or (H, W, 3), and returns arguments of solve().
SPDX-License-Identifier: MIT
"""
import argparse
import sys

import numpy as np
from PIL import Image

FORBIDDEN = 65535  # what a label costs that strokes rule out
NO_SEAM = 100000   # what a seam costs at the end of a picture
COLOURS = {"black": 0, "white": 7, "red": 1, "green": 2, "blue": 4, "yellow": 3, "magenta": 5,
           "cyan": 6}  # of strokes, in the order of labels: red has bit 0, green 1, blue 2


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


def marks(strokes, labels):
    """The label that strokes give each pixel, -1 where they have no pure colour."""
    strokes = as_rgb(strokes)
    label_of = np.full(8, -1)
    label_of[list(COLOURS.values())[:labels]] = np.arange(labels)
    pure = np.isin(strokes, (0, 255)).all(2)
    marked = np.where(pure, label_of[(strokes == 255) @ [1, 2, 4]], -1)
    for name, label in zip(COLOURS, range(labels)):
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
    picture, marked = as_rgb(picture), marks(strokes, 2)
    bins = (picture >> 5).astype(int) @ [1, 8, 64]
    cost = np.empty(bins.shape + (2,), np.uint16)
    for label in range(2):
        count = np.bincount(bins[marked == label], minlength=512) + 1
        cost[..., label] = np.rint(-100 * np.log(count / count.sum()))[bins]
        cost[..., label][marked == label] = 0
        cost[..., label][marked == 1 - label] = FORBIDDEN
    right, down = contrast_weights(picture)
    return {"cost": cost, "smoothness": "potts", "lambda_": 2, "right": right, "down": down}


def seams(pictures, axis, empty):
    """Tables (H, W, labels, labels) of the edges along an axis: a seam costs the distances of both
    pictures' colours at both pixels, rounded down, and 1 (Szeliski et al. 2008)."""
    labels = len(pictures)
    table = np.zeros(pictures[0].shape[:2] + (labels, labels), np.float32)
    here, there = (np.s_[:, :-1], np.s_[:, 1:]) if axis else (np.s_[:-1, :], np.s_[1:, :])
    all_empty = empty.all(0)
    for a in range(labels):
        for b in range(labels):
            if a == b:
                continue
            apart = np.sqrt(((pictures[a] - pictures[b]) ** 2).sum(2))
            seam = np.floor(apart[here] + apart[there]) + 1
            ends = empty[a] | empty[b]
            seam[ends[here] | ends[there]] = NO_SEAM
            seam[(empty[a][here] & empty[b][there]) | all_empty[here] | all_empty[there]] = 0
            table[here + (a, b)] = seam
    return table


def montage(pictures, strokes=None, footprints=False):
    """Labels tell which of 2 to 8 pictures a pixel comes from (Agarwala et al. 2004). strokes mark
    some pixels of each in the order of COLOURS. With footprints, pictures end where they are
    black."""
    pictures = [as_rgb(p).astype(np.float32) for p in pictures]
    empty = np.array([footprints & (p == 0).all(2) for p in pictures])
    cost = np.where(empty & ~empty.all(0), FORBIDDEN, 0).astype(np.uint16).transpose(1, 2, 0).copy()
    if strokes is not None:
        marked = marks(strokes, len(pictures))[..., None]
        cost[(marked >= 0) & (marked != np.arange(len(pictures)))] = FORBIDDEN
    return {"cost": cost, "smoothness": (seams(pictures, 1, empty), seams(pictures, 0, empty)),
            "solver": "expansion" if len(pictures) > 2 else "trws"}


def compose(pictures, label):
    return np.choose(label[..., None], [as_rgb(p) for p in pictures])


def read(path):
    if path is None:
        return None
    image = Image.open(path)
    return np.array(image if image.mode == "L" else image.convert("RGB"))


def main():
    import livestereo as ls  # the recipes themselves do not need it
    parser = argparse.ArgumentParser(description="Denoises, segments or joins pictures.")
    parser.add_argument("recipe", choices=["denoise", "segment", "montage"])
    parser.add_argument("picture", nargs="+")
    for name in ("--mask", "--strokes"):
        parser.add_argument(name)
    parser.add_argument("--footprints", action="store_true")
    parser.add_argument("--solver")
    parser.add_argument("--sweeps", type=int, default=100)
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    pictures, strokes = [read(p) for p in given.picture], read(given.strokes)
    if given.recipe == "denoise":
        problem = denoise(pictures[0], read(given.mask))
    elif given.recipe == "segment":
        problem = segment(pictures[0], strokes)
    else:
        problem = montage(pictures, strokes, given.footprints)
    if given.solver:
        problem["solver"] = given.solver
    found = ls.solve(**problem, sweeps=given.sweeps)
    print(f"energy {found.energy:.15g}, lower bound {found.bound:.15g}")
    label = found.label
    picture = {"denoise": label, "segment": 255 * label}.get(given.recipe)
    if picture is None:
        picture = compose(pictures, label)
    Image.fromarray(picture.astype(np.uint8)).save(given.output)


if __name__ == "__main__":
    sys.exit(main())
