#!/usr/bin/env python3
"""Pictures, depth and points of pairs in rerun (rerun.io), on its timeline.

    pip install livestereo rerun-sdk pillow
    rerun_live.py drive/left/*.png -- drive/right/*.png --calibration rig.yml     # opens its viewer
    rerun_live.py left.png -- right.png --calibration rig.txt --save drive.rrd    # or a file for it

SPDX-License-Identifier: MIT
"""
import argparse

import livestereo as ls
import numpy as np
import rerun as rr
from PIL import Image


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", help="the left ones, then as many right ones")
    parser.add_argument("--calibration", required=True)
    parser.add_argument("--range", type=int, default=64, help="labels (disparities in px)")
    parser.add_argument("--rate", type=float, default=10, help="pairs a second on the timeline")
    parser.add_argument("--save", help="a .rrd file in place of the viewer")
    args = parser.parse_args()
    half = len(args.pictures) // 2
    rr.init("livestereo", spawn=args.save is None)
    if args.save:
        rr.save(args.save)
    rr.log("world", rr.ViewCoordinates.RDF, static=True)  # x right, y down, z forward

    matcher = None
    for i, names in enumerate(zip(args.pictures[:half], args.pictures[half:])):
        left, right = (np.asarray(Image.open(name).convert("RGB")) for name in names)
        if matcher is None:
            height, width = left.shape[:2]
            matcher = ls.Matcher(width, height, preset="live", calibration=args.calibration,
                                 sequence=True, disparity_range=args.range)
            g = matcher.info.geometry
            rr.log("world/left", rr.Pinhole(focal_length=(g.fx, g.fy), principal_point=(g.cx, g.cy),
                                            width=matcher.info.width, height=matcher.info.height),
                   static=True)
        result = matcher(left, right)
        rr.set_time("capture", duration=i / args.rate)
        rr.log("world/left/picture", rr.Image(result.left))
        rr.log("world/left/depth", rr.DepthImage(result.depth, meter=1.0))
        points = result.points  # x y z in metres, red green blue
        rr.log("world/points", rr.Points3D(points[:, :3], colors=points[:, 3:].astype(np.uint8)))
        rr.log("statistics/ms", rr.Scalars(result.ms))


if __name__ == "__main__":
    main()
