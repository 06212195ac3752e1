#!/usr/bin/env python3
"""An RGB-D folder of rectified pictures and depths, for Open3D, RTAB-Map and readers of TUM's sets.

    rgbd_folder.py 'drive/left/*.png' 'drive/right/*.png' --calibration rig.yml -o out --rate 10

out/color/N.png and out/depth/N.png (16 bits, mm, 0: unknown or beyond 65.535 m), intrinsics.json
in Open3D's form, associations.txt in TUM's: time and file of the picture, time and file of the
depth.

SPDX-License-Identifier: MIT
"""
import argparse
import glob
import json
import os

import livestereo as ls
import numpy as np
from PIL import Image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("left", help="a pattern of files, as the right one")
    parser.add_argument("right")
    parser.add_argument("--calibration", required=True)
    parser.add_argument("--preset", default="default", choices=ls.presets())
    parser.add_argument("--rate", type=float, default=30, help="pairs a second (30)")
    parser.add_argument("-o", "--output", required=True, help="a new folder")
    args = parser.parse_args()

    pairs = [sorted(glob.glob(pattern)) for pattern in (args.left, args.right)]
    if not pairs[0] or len(pairs[0]) != len(pairs[1]):
        parser.error(f"{len(pairs[0])} left pictures, {len(pairs[1])} right ones")
    for name in "color", "depth":
        os.makedirs(f"{args.output}/{name}")
    matcher = None
    with open(f"{args.output}/associations.txt", "w") as associations:
        for number, names in enumerate(zip(*pairs)):
            left, right = (np.asarray(Image.open(name).convert("RGB")) for name in names)
            if matcher is None:
                matcher = ls.Matcher(left.shape[1], left.shape[0], preset=args.preset,
                                     calibration=args.calibration)
            result = matcher(left, right)
            mm = np.nan_to_num(np.rint(1000 * result.depth), posinf=0)
            mm[mm > 65535] = 0
            name, time = f"{number:06d}.png", number / args.rate
            Image.fromarray(result.left).save(f"{args.output}/color/{name}")
            Image.fromarray(mm.astype(np.uint16)).save(f"{args.output}/depth/{name}")
            associations.write(f"{time:.6f} color/{name} {time:.6f} depth/{name}\n")
    height, width = result.left.shape[:2]
    g = matcher.info.geometry
    with open(f"{args.output}/intrinsics.json", "w") as file:  # columns of the matrix
        json.dump({"width": width, "height": height,
                   "intrinsic_matrix": [g.fx, 0, 0, 0, g.fy, 0, g.cx, g.cy, 1]}, file)


if __name__ == "__main__":
    main()
