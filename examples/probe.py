#!/usr/bin/env python3
"""Plots what belief propagation knew at one pixel: data cost and belief of each disparity.

    probe.py left.png right.png 200 120 --plot curves.png

SPDX-License-Identifier: MIT
"""
import argparse

import livestereo as ls
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("x", type=int)
    parser.add_argument("y", type=int)
    parser.add_argument("--preset", default="default", choices=ls.presets())
    parser.add_argument("--plot", help="a file; without it, a window")
    args = parser.parse_args()

    left, right = (np.asarray(Image.open(path).convert("RGB")) for path in (args.left, args.right))
    matcher = ls.Matcher(left.shape[1], left.shape[0], preset=args.preset)
    matcher(left, right)
    probe = matcher.probe(args.x, args.y)
    disparities = probe.u + np.arange(len(probe.cost))
    print(f"({args.x}, {args.y}): {disparities[probe.label]:g} px, least cost at "
          f"{disparities[probe.cost.argmin()]:g} px")
    plt.plot(disparities, probe.cost, label="data cost")
    plt.plot(disparities, probe.belief - probe.belief.min(), label="belief above its least")
    plt.axvline(disparities[probe.label], color="grey", linestyle=":", label="chosen")
    plt.xlabel("disparity, px")
    plt.legend()
    plt.savefig(args.plot) if args.plot else plt.show()


if __name__ == "__main__":
    main()
