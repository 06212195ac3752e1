#!/usr/bin/env python3
"""usage: tests/solvers.py PROGRAM DATA [--energies PROBLEMS SOLVER SWEEPS [OPTION...]]

Solves problems of Liang et al. 2011 with every solver of `livestereo solve` and prints a Markdown
table: how far energies lie above a lower bound, against processor time and bytes moved. Stereo is
that of the Middlebury MRF benchmark (Tsukuba, Venus, Teddy), with costs computed here; the picture
to denoise and the one to segment are made from Tsukuba's. --energies prints those of PROBLEMS,
comma-separated: tsukuba, venus, teddy, and of the benchmark's own pictures (DATA/mrf) house,
penguin, family and pano; where a bound is known, its gap, too.
SPDX-License-Identifier: MIT
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageFile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples"))
import solve_pictures as recipes  # noqa: E402

ImageFile.LOAD_TRUNCATED_IMAGES = True  # some of the benchmark's have wrong checksums

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


def words_for(folder, cost, smoothness="linear", lambda_=1, truncation=0, right=None, down=None,
              solver=None):
    """What `livestereo solve` takes of arguments of the package's solve(), with arrays in files."""
    words = ["--lambda", str(lambda_), "--truncation", str(truncation)]
    arrays = {"cost": cost, "right": right, "down": down}
    if isinstance(smoothness, str):
        words += ["--model", smoothness]
    else:
        arrays.update({"right-table": smoothness[0], "down-table": smoothness[1]})
    for name, array in arrays.items():
        path = os.path.join(folder, name + ".npy")
        if array is not None:
            np.save(path, array.reshape(len(array), -1) if "table" in name else array)
            words += ["--" + name, path] if name != "cost" else [path]
    return words + (["--solver", solver] if solver else [])


def stereo(data, pair):
    labels, squared, cut, model, factor, most, weight, limit = STEREO[pair]
    left, right = read(data, pair, "left"), read(data, pair, "right")
    return {"cost": stereo_costs(left, right, labels, squared, cut), "smoothness": model,
            "lambda_": factor, "truncation": most, "right": weights(left, 1, weight, limit),
            "down": weights(left, 0, weight, limit)}


def denoise(data):
    """A third of Tsukuba with noise and scratches."""
    grey = read(data, "tsukuba", "left").mean(2)[::3, ::3]
    noisy = np.clip(grey + np.random.default_rng(1).normal(0, 20, grey.shape), 0, 255)
    mask = np.zeros(grey.shape, np.uint8)
    for i in range(10, 90, 20):
        mask[i:i + 2, 15:115] = 255
    return recipes.denoise(noisy.astype(np.uint8), mask)


def segment(data):
    """The head of Tsukuba, marked by a rectangle; two more are background."""
    left = read(data, "tsukuba", "left")
    strokes = np.full(left.shape[:2], 128, np.uint8)
    strokes[90:190, 170:215] = 255
    strokes[5:60, 5:120] = strokes[20:120, 320:370] = 0
    return recipes.segment(left.astype(np.uint8), strokes)


def benchmark_denoise(data, name):
    """Its masks are black; lambda and truncation are those of Szeliski et al. 2008."""
    picture, mask = (recipes.read(os.path.join(data, "mrf/denoise", f"{name}-{kind}.png"))
                     for kind in ("input", "mask"))
    factor, most = {"house": (5, 0), "penguin": (25, 5000)}[name]
    return {**recipes.denoise(picture, mask, 0), "lambda_": factor, "truncation": most}


def pano(data):
    folder = os.path.join(data, "mrf/pano")
    return recipes.montage([recipes.read(os.path.join(folder, name))
                            for name in sorted(os.listdir(folder))], footprints=True)


def gradients(im, axis):
    """The length of Sobel's derivative across the edge from each pixel to the next one along axis,
    over three pixels in the other direction; -1 where a pixel of the six is none or black."""
    im = np.moveaxis(im, axis, 0)
    sums = np.full(im.shape[:2], -1.0)
    weighed = im[:, :-2] + 2 * im[:, 1:-1] + im[:, 2:]
    sums[:-1, 1:-1] = np.sqrt((((weighed[1:] - weighed[:-1]) / 3) ** 2).sum(2))
    black = (im == 0).all(2)
    near = black[:, :-2] | black[:, 1:-1] | black[:, 2:]
    sums[:-1, 1:-1][near[1:] | near[:-1]] = -1
    return np.moveaxis(sums, 0, axis)


FORBIDDEN = 100000  # the benchmark's infinity


def family(data):
    """A seam costs 100 (distance at both pixels + 1) / the mean gradient of both pictures."""
    where = os.path.join(data, "mrf/family")
    strokes = np.array(Image.open(os.path.join(where, "familydatacost.png")).convert("RGB"))[..., 0]
    ims = [np.array(Image.open(os.path.join(where, n)).convert("RGB")).astype(np.float32)
           for n in sorted(os.listdir(where)) if n.startswith("small")]
    labels = len(ims)
    cost = np.where((strokes[..., None] == 255) | (strokes[..., None] // 20 == np.arange(labels)),
                    0, FORBIDDEN).astype(np.float32)
    tables = []
    for axis in (1, 0):
        table = np.zeros(strokes.shape + (labels, labels), np.float32)
        here = (slice(None), slice(None, -1)) if axis else (slice(None, -1), slice(None))
        there = (slice(None), slice(1, None)) if axis else (slice(1, None), slice(None))
        steps = [gradients(im, axis) for im in ims]
        black = [(im == 0).all(2) for im in ims]
        for a in range(labels):
            for b in range(labels):
                if a == b:
                    continue
                apart = np.sqrt(((ims[a] - ims[b]) ** 2).sum(2))
                seam = (apart[here] + apart[there]).astype(int) + 1
                mean = (steps[a] + steps[b])[here] / 2
                mean[(steps[a][here] == -1) | (steps[b][here] == -1)] = 1
                with np.errstate(divide="ignore"):
                    seam = np.minimum(np.where(mean == 0, FORBIDDEN, 100 * seam / mean), FORBIDDEN)
                ends = [black[a][here], black[b][there], black[a][there], black[b][here]]
                seam[np.any(ends, 0)] = FORBIDDEN
                seam[ends[0] & ends[1]] = 0
                table[here + (a, b)] = seam.astype(int)
        tables.append(table)
    return {"cost": cost, "smoothness": tables}


def problem_of(data, name):
    return (benchmark_denoise(data, name) if name in ("house", "penguin") else
            family(data) if name == "family" else pano(data) if name == "pano" else
            stereo(data, name))


def energies(program, data, folder, problems, options):
    """As `solve` prints them: the energy, and how far it is above a bound."""
    cells = []
    for problem in problems.split(","):
        words = words_for(folder, **{**problem_of(data, problem), "solver": options[0]})
        run = subprocess.run([program, "solve", "-q", "--sweeps", options[1]] + options[2:] + words,
                             capture_output=True, text=True, check=True)
        gap = re.search(r"\((.*) %\)", run.stdout)
        cells.append("%.0f" % float(run.stdout.split()[1]) +
                     (", %s %%" % gap.group(1) if gap else ""))
    return "; ".join(cells)


# Of a sweep, a pixel and a label, to and from memory (docs/METHODS.md).
BYTES = {"trws": 56, "rows_columns": 64, "tiles": 40, "min_sum": 24, "sum_product": 24, "icm": 4}


def solve(program, words, solver, sweeps, temperature):
    """Energy, lower bound or None, seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([program, "solve", "-q", "--solver", solver, "--sweeps", str(sweeps)] +
                         (["--temperature", str(temperature)] if solver == "sum_product" else []) +
                         words, capture_output=True, text=True, check=False)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert run.returncode == 0, run.stderr
    bound = re.search("lower bound ([0-9.e+]+)", run.stdout)
    return float(run.stdout.split()[1]), bound and float(bound.group(1)), seconds


def main():
    program, data = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[3:4] == ["--energies"]:
            print(energies(program, data, folder, sys.argv[4], sys.argv[5:]))
            return
        problems = {pair: stereo(data, pair) for pair in STEREO}
        problems.update({"denoise": denoise(data), "segment": segment(data)})
        print("| | sweeps | " + " | ".join(problems) + " |\n|" + "---|" * (2 + len(problems)))
        words = {p: words_for(tempfile.mkdtemp(dir=folder), **problem)
                 for p, problem in problems.items()}
        bounds = {p: solve(program, words[p], "trws", 200, 1)[1] for p in problems}
        for solver, counts in SWEEPS.items():
            for sweeps in counts:
                cells = []
                for p, problem in problems.items():
                    energy, _, seconds = solve(program, words[p], solver, sweeps, TEMPERATURES[p])
                    cells.append("%.2f, %.1f, %.2g" % (
                        100 * (energy / bounds[p] - 1), seconds,
                        sweeps * problem["cost"].size * BYTES[solver] / 1e9))
                print("| %s | %d | %s |" % (solver, sweeps, " | ".join(cells)), flush=True)


main()
