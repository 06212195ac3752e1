#!/usr/bin/env python3
"""usage: tests/solvers.py PROGRAM DATA [--energies SOLVER SWEEPS]

Solves problems of Liang et al. 2011 with every solver of `livestereo solve` and prints a Markdown
table: how far energies lie above a lower bound, against processor time and bytes moved. Stereo is
that of the Middlebury MRF benchmark (Tsukuba, Venus, Teddy), with costs computed here; the picture
to denoise and the one to segment are made from Tsukuba's. --energies prints those of stereo alone.
SPDX-License-Identifier: MIT
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

# labels, squared, cut of the costs; model, lambda, truncation; a step's weight and square
STEREO = {"tsukuba": (16, False, 765, "linear", 20, 40, 2, 3 * 8 ** 2),
          "venus": (20, True, 256, "quadratic", 50, 350, 1, 0),
          "teddy": (60, False, 48, "potts", 10, 0, 3, 3 * 10 ** 2)}
SWEEPS = {"trws": (5, 50), "rows_columns": (5, 50), "tiles": (1, 12), "min_sum": (5, 30),
          "sum_product": (5, 30), "icm": (2, 10)}
TEMPERATURES = {"tsukuba": 10, "venus": 20, "teddy": 4, "denoise": 40, "segment": 20}


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


def stereo(data, folder, pair):
    labels, squared, cut, model, factor, most, weight, limit = STEREO[pair]
    left, right = read(data, pair, "left"), read(data, pair, "right")
    names = [os.path.join(folder, pair + n) for n in ("c.npy", "r.npy", "d.npy")]
    np.save(names[0], stereo_costs(left, right, labels, squared, cut))
    np.save(names[1], weights(left, 1, weight, limit))
    np.save(names[2], weights(left, 0, weight, limit))
    return ([names[0], "--model", model, "--lambda", str(factor), "--truncation", str(most),
             "--right", names[1], "--down", names[2]], left.shape[0] * left.shape[1] * labels)


def denoise(data, folder):
    """A third of Tsukuba with noise and scratches."""
    grey = read(data, "tsukuba", "left").mean(2)[::3, ::3]
    noisy = np.clip(grey + np.random.default_rng(1).normal(0, 20, grey.shape), 0, 255)
    mask = np.zeros(grey.shape, np.uint8)
    for i in range(10, 90, 20):
        mask[i:i + 2, 15:115] = 255
    names = [os.path.join(folder, n) for n in ("noisy.png", "mask.png")]
    Image.fromarray(noisy.astype(np.uint8)).save(names[0])
    Image.fromarray(mask).save(names[1])
    return ["--denoise", names[0], "--mask", names[1]], grey.size * 256


def segment(data, folder):
    """The head of Tsukuba, marked by a rectangle; two more are background."""
    left = read(data, "tsukuba", "left")
    strokes = np.full(left.shape[:2], 128, np.uint8)
    strokes[90:190, 170:215] = 255
    strokes[5:60, 5:120] = strokes[20:120, 320:370] = 0
    names = [os.path.join(folder, n) for n in ("photo.png", "strokes.png")]
    Image.fromarray(left.astype(np.uint8)).save(names[0])
    Image.fromarray(strokes).save(names[1])
    return ["--segment", names[0], "--strokes", names[1]], strokes.size * 2


def bytes_of_sweep(problem, solver):
    """Of a pixel and label, to and from memory (docs/METHODS.md)."""
    if solver == "min_sum":
        return 6.2 if problem == "teddy" else 24
    return {"trws": 56, "rows_columns": 16, "tiles": 10, "sum_product": 12, "icm": 4}[solver]


def solve(program, words, solver, sweeps, temperature):
    """Energy, lower bound or None, seconds of processor time; None: it takes no such problem."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([program, "solve", "-q", "--solver", solver, "--sweeps", str(sweeps)] +
                         (["--temperature", str(temperature)] if solver == "sum_product" else []) +
                         words, capture_output=True, text=True, check=False)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if run.returncode:
        assert "at most four" in run.stderr, run.stderr
        return None
    bound = re.search("lower bound ([0-9.e+]+)", run.stdout)
    return float(run.stdout.split()[1]), bound and float(bound.group(1)), seconds


def main():
    program, data = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        problems = {pair: stereo(data, folder, pair) for pair in STEREO}
        if sys.argv[3:4] == ["--energies"]:
            print(", ".join("%.0f" % solve(program, words, sys.argv[4], sys.argv[5], 1)[0]
                            for words, _ in problems.values()))
            return
        problems["denoise"] = denoise(data, folder)
        problems["segment"] = segment(data, folder)
        print("| | sweeps | " + " | ".join(problems) + " |\n|" + "---|" * (2 + len(problems)))
        bounds = {p: solve(program, words, "trws", 200, 1)[1] for p, (words, _) in problems.items()}
        for solver, counts in SWEEPS.items():
            for sweeps in counts:
                cells = []
                for p, (words, labels) in problems.items():
                    found = solve(program, words, solver, sweeps, TEMPERATURES[p])
                    energy, _, seconds = found or (bounds[p], None, 0)
                    cells.append("" if not found else "%.2f, %.1f, %.2g" % (
                        100 * (energy / bounds[p] - 1), seconds,
                        sweeps * labels * bytes_of_sweep(p, solver) / 1e9))
                print("| %s | %d | %s |" % (solver, sweeps, " | ".join(cells)), flush=True)


main()
