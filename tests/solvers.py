#!/usr/bin/env python3
"""usage: tests/solvers.py PROGRAM DATA PROBLEMS SWEEPS

Prints the energies that livestereo.solve() ends at on problems of the Middlebury MRF
benchmark, comma-separated: the stereo of tsukuba, venus, teddy, with costs computed here, and of
its own pictures (DATA/mrf) house and penguin, and the gap to the bound.
The package takes the library that lies beside PROGRAM.
SPDX-License-Identifier: MIT
"""
import ctypes
import os
import sys

import numpy as np
from PIL import Image, ImageFile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../examples"))
import solve_pictures as recipes  # noqa: E402

ImageFile.LOAD_TRUNCATED_IMAGES = True  # some of the benchmark's have wrong checksums

# labels, squared, cut of the costs; model, lambda, truncation; a step's weight and square
STEREO = {"tsukuba": (16, False, 765, "linear", 20, 40, 2, 3 * 8 ** 2),
          "venus": (20, True, 256, "quadratic", 50, 350, 1, 0),
          "teddy": (60, False, 48, "potts", 10, 0, 3, 3 * 10 ** 2)}


def interval(v):
    """The least and the greatest of a pixel and its half-way values, rounded down."""
    left = (v + np.pad(v, ((0, 0), (1, 0), (0, 0)), "edge")[:, :-1]) // 2
    right = (v + np.pad(v, ((0, 0), (0, 1), (0, 0)), "edge")[:, 1:]) // 2
    return np.minimum(np.minimum(left, right), v), np.maximum(np.maximum(left, right), v)


def stereo_costs(left, right, labels, squared, cut):
    """Birchfield-Tomasi differences or their squares, summed over the channels."""
    cost = np.full(left.shape[:2] + (labels,), cut, np.uint16)
    low, high = interval(left), interval(right)
    for d in range(labels):
        width = left.shape[1] - d
        a, b = left[:, d:], right[:, :width]
        one = np.maximum(0, np.maximum(a - high[1][:, :width], high[0][:, :width] - a))
        other = np.maximum(0, np.maximum(b - low[1][:, d:], low[0][:, d:] - b))
        difference = np.minimum(one, other)
        cost[:, d:, d] = np.minimum((difference ** 2 if squared else difference).sum(2), cut)
    return cost


def weights(left, axis, weight, limit):
    """weight where the squared steps of the colours sum to less than limit, else 1."""
    out = np.ones(left.shape[:2], np.uint8)
    near = (np.diff(left, axis=axis) ** 2).sum(2) < limit
    (out[:, :-1] if axis else out[:-1])[near] = weight
    return out


def read(data, pair, side):
    path = os.path.join(data, "middlebury", pair, side + ".png")
    return np.array(Image.open(path).convert("RGB")).astype(int)


def stereo(data, pair):
    labels, squared, cut, model, factor, most, weight, limit = STEREO[pair]
    left, right = read(data, pair, "left"), read(data, pair, "right")
    return {"cost": stereo_costs(left, right, labels, squared, cut), "smoothness": model,
            "lambda_": factor, "truncation": most, "right": weights(left, 1, weight, limit),
            "down": weights(left, 0, weight, limit)}


def benchmark_denoise(data, name):
    """Its masks are black; lambda and truncation are those of Szeliski et al. 2008."""
    picture, mask = (recipes.read(os.path.join(data, "mrf/denoise", f"{name}-{kind}.png"))
                     for kind in ("input", "mask"))
    factor, most = {"house": (5, 0), "penguin": (25, 5000)}[name]
    return {**recipes.denoise(picture, mask, 0), "lambda_": factor, "truncation": most}


def problem_of(data, name):
    return benchmark_denoise(data, name) if name in ("house", "penguin") else stereo(data, name)


def main():
    program, data, problems, sweeps = sys.argv[1:]
    ctypes.CDLL(os.path.join(os.path.dirname(program), "liblivestereo.so.0"))
    sys.path.insert(0, os.path.join(HERE, "../bindings/python"))
    import livestereo
    cells = []
    for name in problems.split(","):
        found = livestereo.solve(**problem_of(data, name), sweeps=int(sweeps))
        gap = 100 * (found.energy / found.bound - 1)
        cells.append("%.0f" % found.energy + (", %.4f %%" % gap if found.bound > 0 else ""))
    print("; ".join(cells))


main()
