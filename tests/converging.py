#!/usr/bin/env python3
"""Prints what fast-converging updates skip and what they cost (Yang et al. 2006, figure 2):
converging.py [PAIR...], of the pairs of LIVESTEREO_DATA. The tiles that each half-step of the
finest level updates, and the energy and the least time of belief propagation of the left picture
with so many half-steps on each level, beside those of plain updates. The package livestereo,
with its library, is where Python finds it. SPDX-License-Identifier: MIT
"""
import configparser
import os
import sys

import livestereo
import numpy as np
from PIL import Image

HALF_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
REPEAT = 9
last = {}  # what the library told of the last frame


def keep_result(wait_for):
    def wait(handle, timeout, result):
        last["result"] = result._obj
        return wait_for(handle, timeout, result)
    return wait


def measure(folder):
    ini = configparser.ConfigParser()
    ini.read(os.path.join(folder, "pair.ini"))
    left, right = (np.asarray(Image.open(os.path.join(folder, side + ".png")))
                   for side in ("left", "right"))
    # fast-converging updates leave pruning and masks out, too
    matcher = livestereo.Matcher(left.shape[1], left.shape[0], preset="yang2006_tuned",
                                 disparity_range=int(ini["pair"]["disparities"]), pruning=False,
                                 occlusion_masks=False, bp_iterations_0=-1, bp_iterations_1=-1)
    rows = []
    for count in HALF_STEPS:
        energy, ms = {}, {}
        for kind in (False, True) * REPEAT:
            matcher.update(bp_iterations=count, bp_fast_converging=kind)
            matcher(left, right)
            ms[kind] = min(ms.get(kind, np.inf), last["result"].left_bp_ms)
            energy[kind] = matcher.energy()
        rows.append((count, energy, ms))
    print("half-steps  updated %  energy, plain  converging    BP ms, plain  converging")
    for count, energy, ms in rows:
        updated = 100 * last["result"].updated[count - 1]  # of the most half-steps
        print(f"{count:10} {updated:10.1f} {energy[False]:14.0f} {energy[True]:11.0f} "
              f"{ms[False]:15.3f} {ms[True]:11.3f}")


livestereo.lib.wait_for = keep_result(livestereo.lib.wait_for)
data = os.environ.get("LIVESTEREO_DATA", "../shared/data")
for pair in sys.argv[1:] or ["tsukuba"]:
    measure(os.path.join(data, "middlebury", pair))
