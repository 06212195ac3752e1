#!/usr/bin/env python3
"""Errors of all combinations of some parameters, over pairs with ground truth.

    evaluate.py middlebury/ --preset live discontinuity_weight=0.3,0.5,0.7 bp_iterations=3,5

Prints a table, the best first. Each folder in the given one that has left.png, right.png,
disp_left.png and pair.ini (as livestereo eval reads them) is a pair.
SPDX-License-Identifier: MIT
"""
import argparse
import configparser
import itertools
import pathlib
import sys

import livestereo as ls
import numpy as np
from PIL import Image


def read_pair(folder):
    """left, right, true disparities in px (NaN: unknown), number of disparities."""
    ini = configparser.ConfigParser()
    ini.read(folder / "pair.ini")
    truth = np.asarray(Image.open(folder / "disp_left.png"), np.float32)
    truth = np.where(truth == 0, np.nan, truth / ini.getfloat("pair", "disparity_scale"))
    left, right = (np.asarray(Image.open(folder / name).convert("RGB"))
                   for name in ("left.png", "right.png"))
    return left, right, truth, ini.getint("pair", "disparities")


def bad_percent(disparity, truth):
    """The share of pixels with a known truth that are unknown or off by more than 1 px."""
    known = ~np.isnan(truth)
    return 100 * np.mean(~(np.abs(disparity[known] - truth[known]) <= 1))


def progress(done, total):
    bar = "#" * (40 * done // total)
    print(f"\r[{bar:40}] {done}/{total}", end="" if done < total else "\n", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE,VALUE...")
    parser.add_argument("--preset", default="default", choices=ls.presets())
    args = parser.parse_intermixed_args()

    pairs = [read_pair(ini.parent) for ini in sorted(args.folder.glob("*/pair.ini"))
             if (ini.parent / "disp_left.png").exists()]
    if not pairs:
        sys.exit(f"{args.folder}: there are no pairs with ground truth")
    names, texts = zip(*(word.split("=") for word in args.parameters)) if args.parameters else \
        ((), ())
    combinations = list(itertools.product(*(text.split(",") for text in texts)))
    rows = []
    for combination in combinations:
        errors, ms = [], []
        for left, right, truth, labels in pairs:
            settings = {"disparity_range": labels, **dict(zip(names, combination))}
            result = ls.Matcher(truth.shape[1], truth.shape[0], preset=args.preset,
                                **settings)(left, right)
            errors.append(bad_percent(result.px, truth))
            ms.append(result.ms)
            progress(len(rows) * len(pairs) + len(errors), len(combinations) * len(pairs))
        rows.append((np.mean(errors), np.mean(ms), combination))
    print(*names, "bad-1.0 %", "ms", sep="\t")
    for error, time, combination in sorted(rows):
        print(*combination, f"{error:.2f}", f"{time:.1f}", sep="\t")


if __name__ == "__main__":
    main()
