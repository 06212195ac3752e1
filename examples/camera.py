#!/usr/bin/env python3
"""Live disparities of a camera or a video that has both pictures side by side.

    camera.py 0 --calibration rig.yml          # /dev/video0; Esc ends it
    camera.py drive.avi --frames 100 --no-window

SPDX-License-Identifier: MIT
"""
import argparse
import sys

import cv2
import livestereo as ls
import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="number of a camera, or a file")
    parser.add_argument("--calibration")
    parser.add_argument("--range", type=int, default=64, help="labels (disparities in px)")
    parser.add_argument("--frames", type=int, help="stop after so many")
    parser.add_argument("--no-window", action="store_true")
    args = parser.parse_args()

    video = cv2.VideoCapture(int(args.source) if args.source.isdigit() else args.source)
    matcher, count = None, 0
    while count != args.frames:
        there, picture = video.read()
        if not there:
            break
        height, width = picture.shape[0], picture.shape[1] // 2
        if matcher is None:
            matcher = ls.Matcher(width, height, preset="live", calibration=args.calibration,
                                 sequence=True, disparity_range=args.range, bgr=True)
        result = matcher(picture[:, :width], picture[:, width:])  # no copy: rows are apart
        count += 1
        print(f"{count}: {np.nanmedian(result.px):.1f} px, {result.ms:.1f} ms")
        if not args.no_window:
            near = np.clip(np.nan_to_num(result.px) * 255 / args.range, 0, 255).astype(np.uint8)
            cv2.imshow("livestereo", cv2.applyColorMap(near, cv2.COLORMAP_TURBO))
            if cv2.waitKey(1) == 27:
                break
    if not count:
        sys.exit(f"{args.source}: no picture comes from it")


if __name__ == "__main__":
    main()
