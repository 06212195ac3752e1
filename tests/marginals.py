#!/usr/bin/env python3
"""Prints a Markdown table of what min-sum and sum-product make of the data costs of preset
`default`: marginals.py [TEMPERATURE...]. The pairs are those of LIVESTEREO_DATA, and the
package livestereo, with its library, is where Python finds it.

All pixels of nonocc: disparities that are off by more than 0.5 and by more than 1 px, the RMS error
of those within 1 px, the expected calibration error of confidences in ten bins, and the area under
the sparsification curve of bad-1 of the most probable labels, which confidence and entropy sort
(METHODS.md), beside that of the best order. Neighbours are smooth with the weights 10, 3 and 2 of a
tenth of the preset's, for colours that differ by less than 6, less than 32 and more grey levels.
All of it twice: with labels of a pixel, and of half a pixel, from pictures twice as wide.
SPDX-License-Identifier: MIT
"""
import os
import sys

import livestereo
import numpy as np
from PIL import Image

PAIRS = {"tsukuba": (16, 16), "venus": (8, 20), "teddy": (4, 60), "cones": (4, 60),
         "motorcycle": (256, 64), "aloe": (1, 112), "kitti2015_pair": (256, 104),
         "planes": (1, 32)}  # ground truth is disparity * scale; labels
SWEEPS = 10


def read(folder, name):
    return np.array(Image.open(os.path.join(folder, name)))


def make_planes(width=480, height=240):
    """Three slanted planes, side by side, of smooth noise."""
    random, u = np.random.default_rng(1), np.arange(width)
    noise = random.normal(0, 90, (height, width, 3))
    right = np.clip(128 + (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 0)) / 3, 0, 255)
    truth = 6 + 0.05 * (u % 160)[None] * np.ones((height, 1)) + 0.02 * np.arange(height)[:, None]
    left = np.stack([[np.interp(u - d, u, line[:, c]) for line, d in zip(right, truth)]
                     for c in range(3)], 2)
    return left.round().astype(np.uint8), right.round().astype(np.uint8), truth, u > truth + 5


def load(data, name, scale):
    """Left, right, truth, known; aloe at half its size."""
    if name == "planes":
        return make_planes()
    if name.startswith("kitti"):
        folder, file = os.path.join(data, "driving", name), "000005.png"
        left, right = (read(os.path.join(folder, side), file) for side in ("left", "right"))
        truth = read(os.path.join(folder, "disp_left"), file) / scale
        return left, right, truth, truth > 0
    folder = os.path.join(data, "middlebury", name)
    left, right = read(folder, "left.png"), read(folder, "right.png")
    truth = read(folder, "disp_left.png") / scale
    known = (read(folder, "nonocc.png") == 255) & (truth > 0)
    if name == "aloe":
        left, right = (np.array(Image.fromarray(im).reduce(2)) for im in (left, right))
        truth, known = truth[::2, ::2] / 2, known[::2, ::2]
    return left, right, truth, known


def widen(picture):
    """Twice as wide, with cubic interpolation (Catmull-Rom) between the columns."""
    width, p = picture.shape[1], np.pad(picture.astype(float), ((0, 0), (1, 2), (0, 0)), "edge")
    out = np.repeat(picture, 2, 1)
    between = 9 * (p[:, 1:width + 1] + p[:, 2:-1]) - p[:, :width] - p[:, 3:]
    out[:, 1::2] = np.clip((between / 16).round(), 0, 255)
    return out


def costs_of(left, right, labels, parts):
    """The averaged data costs, float32 (H, W, labels), with a tenth of rho as their unit, and T.
    They are the same with a solver that keeps no messages, which probes would compute anew. A pixel
    has parts labels."""
    height, width = left.shape[:2]
    if parts == 2:
        left, right = widen(left), widen(right)
    matcher = livestereo.Matcher(width * parts, height, disparity_range=labels,
                                 bp_schedule="tiles", tile_inner=1, tile_outer=1)
    matcher(left, right)
    cost = np.empty((height, width, labels), np.float32)
    for y in range(height):
        for x in range(width):
            cost[y, x] = matcher.probe(x * parts, y).cost
    settings = matcher.settings
    unit = settings["discontinuity_weight"] / 10
    return cost / unit, settings["discontinuity_truncation"] / unit, unit


def weights(left, axis):
    difference = np.abs(np.diff(left.astype(int), axis=axis)).max(2)
    weight = np.full(left.shape[:2], 10, np.uint8)
    inner = weight[:, :-1] if axis == 1 else weight[:-1]
    inner[difference >= 6] = 3
    inner[difference >= 32] = 2
    return weight


def fit_curve(cost, label):
    """Equiangular lines through the costs of each label and its neighbours."""
    labels = cost.shape[2]
    at = [np.take_along_axis(cost, np.clip(label + i, 0, labels - 1)[..., None], 2)[..., 0]
          for i in (-1, 0, 1)]
    steepest = np.maximum(at[0], at[2]) - at[1]
    offset = np.divide(at[0] - at[2], 2 * steepest, where=steepest > 0,
                       out=np.zeros(label.shape, np.float32))
    inside = (label > 0) & (label < labels - 1)
    return label + np.where(inside, np.clip(offset, -0.5, 0.5), 0)


def mean_nearby(belief, label, reach):
    """The mean of the labels that differ from each label by at most reach."""
    labels = np.arange(belief.shape[2])
    near = np.where(abs(labels - label[..., None]) <= reach, belief, 0)
    return (near * labels).sum(2) / near.sum(2)


def errors(disparity, truth, known):
    error = np.abs(disparity - truth)[known]
    within = error[error <= 1]
    return [100 * (error > 0.5).mean(), 100 * (error > 1).mean(), np.sqrt((within ** 2).mean())]


def calibration_error(confidence, label, truth, known):
    right, p = (np.abs(label - truth) <= 1)[known], confidence[known]
    number = np.minimum((p * 10).astype(int), 9)
    return sum(abs(right[number == i].sum() - p[number == i].sum())
               for i in range(10)) / len(p), (right - p).mean()


def sparsification(key, label, truth, known):
    """The mean of bad-1, in per cent, over all shares of pixels that are left, the greatest keys
    first; equal keys in the mean of their orders."""
    bad, key = (np.abs(label - truth) > 1)[known], key[known]
    _, group, size = np.unique(-key, return_inverse=True, return_counts=True)
    share = np.bincount(group, bad) / size  # of each key's pixels
    kept = np.repeat(share, size).cumsum() / np.arange(1, len(key) + 1)
    return 100 * kept.mean()


def row(name, method, values):
    print(f"| {name} | {method} | " + " | ".join(values) + " |", flush=True)


def compare(name, parts, pair, temperatures):
    """Rows of a pair with parts labels a pixel."""
    left, right, truth, known = pair
    cost, most, unit = costs_of(left, right, PAIRS[name][1] * parts, parts)
    labels = "half labels, " if parts == 2 else ""
    edges = {"right": weights(left, 1), "down": weights(left, 0)}

    def solve(**how):
        return livestereo.solve(cost, lambda_=1 / parts, truncation=round(most / 10),
                                sweeps=SWEEPS, **edges, **how)

    def figures(method, label, more=("", "")):
        values = errors(label / parts, truth, known)
        row(name, labels + method, [f"{v:.3f}" for v in values] + list(more))

    label = solve(solver="min_sum").label.astype(int)
    figures("min-sum", label)
    figures("min-sum, curve through costs", fit_curve(cost, label))
    for t in temperatures:
        found = solve(solver="sum_product", temperature=float(t) / unit)
        label, belief = found.label.astype(int), found.belief
        labels_of = np.arange(belief.shape[2])
        near = np.where(abs(labels_of - label[..., None]) <= 1, belief, 0).sum(2)
        entropy = -(belief * np.log2(np.maximum(belief, 1e-38))).sum(2)
        scaled = truth * parts
        wrong, bias = calibration_error(near, label, scaled, known)
        areas = [sparsification(key, label / parts, truth, known) for key in
                 (near, -entropy,
                  (np.abs(label / parts - truth) <= 1) * 1)]
        figures(f"{t}: most probable", label, (f"{wrong:.3f} ({bias:+.3f})",
                                               ", ".join(f"{v:.2f}" for v in areas)))
        figures(f"{t}: mean (MMSE)", belief @ labels_of)
        figures(f"{t}: mean within 1", mean_nearby(belief, label, 1))
        figures(f"{t}: mean within 2", mean_nearby(belief, label, 2))
        figures(f"{t}: most probable, curve through costs", fit_curve(cost, label))


def main(temperatures):
    data = os.environ.get("LIVESTEREO_DATA", "../shared/data")
    print("| pair | disparities | bad-0.5 | bad-1 | RMS within 1 px | calibration error (bias) | "
          "area by confidence, entropy, best |")
    print("|---|---|---|---|---|---|---|")
    for name, (scale, _) in PAIRS.items():
        pair = load(data, name, scale)
        for parts in (1, 2):
            compare(name, parts, pair, temperatures)


if __name__ == "__main__":
    main(sys.argv[1:] or ["0.05", "0.1", "0.2"])
