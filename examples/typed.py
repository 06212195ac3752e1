#!/usr/bin/env python3
"""The nearest distance in each pair of pictures, for a type checker and for a robot.

    typed.py CALIBRATION left_*.png right_*.png

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import sys
from typing import Any, Iterator, List, Tuple

import livestereo as ls
import numpy as np
from PIL import Image


def pictures(paths: List[str]) -> Iterator[Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    half = len(paths) // 2
    for left, right in zip(paths[:half], paths[half:]):
        one, two = (np.asarray(Image.open(path).convert("RGB")) for path in (left, right))
        yield one, two


def nearest(result: ls.Result, sure: int = 200) -> float:
    """Metres; NaN where nothing is known."""
    known = np.asarray(result.confidence) >= sure
    depth: np.ndarray[Any, Any] = np.where(known, result.depth, np.nan)
    return float(np.nanmin(depth)) if np.isfinite(depth).any() else float("nan")


def main(calibration: str, paths: List[str]) -> None:
    pairs = list(pictures(paths))
    height, width = pairs[0][0].shape[:2]
    with ls.Matcher(width, height, preset="live", calibration=calibration,
                    disparity_range=32) as matcher:
        for left, right in pairs:
            matcher.start(left, right)
            print(f"{nearest(matcher.wait(timeout=60)):.2f} m")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
