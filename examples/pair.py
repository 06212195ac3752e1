#!/usr/bin/env python3
"""Disparity and confidence of two pictures, and depth where there is a calibration.

    pair.py left.png right.png --calibration calibration.txt --plot plot.png

SPDX-License-Identifier: MIT
"""
import argparse

import livestereo as ls
import numpy as np
from PIL import Image


def plot(maps, path):
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, len(maps), figsize=(6 * len(maps), 4), squeeze=False)
    for axis, (title, values) in zip(axes[0], maps.items()):
        figure.colorbar(axis.imshow(values, cmap="turbo"), ax=axis)
        axis.set_title(title)
    plt.savefig(path) if path else plt.show()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("--calibration")
    parser.add_argument("--preset", default="default", choices=ls.presets())
    parser.add_argument("--plot", help="a file; without it, a window")
    parser.add_argument("--no-plot", action="store_true", help="print the medians alone")
    args = parser.parse_args()

    left, right = (np.asarray(Image.open(path).convert("RGB")) for path in (args.left, args.right))
    height, width = left.shape[:2]
    matcher = ls.Matcher(width, height, preset=args.preset, calibration=args.calibration)
    result = matcher(left, right)
    maps = {"disparity, px": result.px, "confidence": result.confidence / 255}
    if args.calibration:
        maps["depth, m"] = result.depth
    for title, values in maps.items():
        print(f"{title}: {np.nanmedian(values):.2f} (median)")
    print(f"{result.ms:.0f} ms on {matcher.info.backend}")
    if not args.no_plot:
        plot(maps, args.plot)


if __name__ == "__main__":
    main()
