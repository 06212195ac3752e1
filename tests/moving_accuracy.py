#!/usr/bin/env python3
"""Prints a Markdown table of what the temporal filter does while the rig moves: moving_accuracy.py
PROGRAM [PRESET...], on the sequences and cameras of build/draw_sequences. Each cell has
temporal_mode=off > on, over the last seven of eleven frames:

TEPE   mean abs((d_t - d_t-1) - (g_t - g_t-1)) in px, d_t-1 and the truth g_t-1 where the point was
flips  per cent of these points whose error has changed by more than 1 px
wrong  per cent off by more than 1 px, of all but sky; harm: right with off, wrong with on
moves  the same of what moves by itself; behind: of what that uncovered in the last three frames
ms     user and system time a frame, one thread, with what the program does at its start

Of a drive, whose maps are moved by its own poses: jitter, the mean difference in px between a map
and the last one, at most 8 px a pixel; and ahead, per cent off by more than 1 px from the map of
two frames later, which no filter at work has seen: default's by refinement=learned, unfiltered.
SPDX-License-Identifier: MIT
"""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

SCENES = "build/sequences"
SIZE, FIRST, FRAMES = (360, 480), 4, 11
SEEN, MOVES = 1, 2
DRIVE = os.environ.get("LIVESTEREO_DATA", "../shared/data") + "/driving/kitti_seq1"
FIGURES = ("TEPE", "flips", "wrong", "harm", "moves", "behind", "ms")


def maps(program, preset, mode, pictures, calibration, most, *settings):
    """The first FRAMES maps in px, and the processor's milliseconds a frame."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        for side in ("left", "right"):
            os.mkdir(f"{out}/{side}")
            for name in sorted(os.listdir(f"{pictures}/{side}"))[:FRAMES]:
                os.symlink(os.path.abspath(f"{pictures}/{side}/{name}"), f"{out}/{side}/{name}")
        subprocess.run([program, "run", "-q", "--preset", preset, "--calib", calibration,
                        "--set", "threads=1", "--set", f"temporal_mode={mode}", "--set",
                        f"disparity_range={int(most + 17) // 16 * 16}",
                        *(f"--set={setting}" for setting in settings), out,
                        "--save-disparity", f"{out}/%06d.png"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = [np.asarray(Image.open(f"{out}/{t:06d}.png")) / 256 for t in range(FRAMES)]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, sum(1000 / FRAMES * (getattr(after, kind) - getattr(before, kind))
                      for kind in ("ru_utime", "ru_stime"))


def per_cent(chosen, of):
    return 100 * (chosen & of).sum() / max(of.sum(), 1)


def way_back(planes, y, x):
    """Where the points at y, x of a frame were in the last one, and whether that is inside."""
    y, x = (np.rint(at + planes[n, y, x] / 16).astype(int) for n, at in ((2, y), (1, x)))
    inside = (y >= 0) & (x >= 0) & (y < SIZE[0]) & (x < SIZE[1])
    return np.clip(y, 0, SIZE[0] - 1), np.clip(x, 0, SIZE[1] - 1), inside


def figures(found, off, truth):
    """Means over frames of FIGURES without ms; off: the maps without the filter."""
    true, moves = truth[:, 0] / 16, truth[:, 3] & MOVES != 0
    error = np.array(found) - true
    wrong, all_rows = abs(error) > 1, []
    for t in range(FIRST, FRAMES):
        now_y, now_x = np.mgrid[:SIZE[0], :SIZE[1]]
        y, x, seen = way_back(truth[t], now_y, now_x)
        change = abs(error[t] - error[t - 1][y, x])
        seen &= (truth[t, 3] & SEEN != 0) & (moves[t] == moves[t - 1][y, x])
        behind = np.zeros(SIZE, bool)
        y, x, inside = now_y, now_x, np.ones(SIZE, bool)
        for k in range(3):
            y, x, still = way_back(truth[t - k], y, x)
            inside &= still
            behind |= inside & moves[t - k - 1][y, x] & ~moves[t]
        some = true[t] > 0.3
        all_rows.append((change[seen].mean(), per_cent(change > 1, seen), per_cent(wrong[t], some),
                         per_cent(wrong[t] & (abs(off[t] - true[t]) <= 1), some),
                         per_cent(wrong[t], moves[t]), per_cent(wrong[t], behind)))
    return np.mean(all_rows, axis=0)


class Drive:
    """Of the drive's maps; later: those that ahead compares with."""

    def __init__(self, later):
        with open(f"{DRIVE}/camera.txt", encoding="utf-8") as lines:
            self.camera = {key: float(value) for key, value in (line.split("=") for line in lines)}
        self.poses = np.loadtxt(f"{DRIVE}/poses.txt")[:FRAMES].reshape(-1, 3, 4)
        self.later = later

    def moved(self, disparities, of, to):
        """The pixels in frame `to` of a frame's points that are inside, and their disparities."""
        c = self.camera
        depth, (height, width) = c["focal_px"] * c["baseline_m"], disparities.shape
        y, x = (at[disparities > 0.1] for at in np.mgrid[:height, :width])
        z = depth / disparities[y, x]
        points = np.stack([(x - c["cx"]) * z / c["focal_px"], (y - c["cy"]) * z / c["focal_px"], z],
                          -1)
        there = (points @ self.poses[of, :, :3].T + self.poses[of, :, 3] - self.poses[to, :, 3]) @ \
            self.poses[to, :, :3]
        u, v = (np.rint(there[..., i] / there[..., 2] * c["focal_px"] + c[middle]).astype(int)
                for i, middle in ((0, "cx"), (1, "cy")))
        fits = (u >= 0) & (v >= 0) & (u < width) & (v < height) & (there[..., 2] > 0.5)
        return v[fits], u[fits], depth / there[fits, 2]

    def figures(self, found):
        """Jitter and ahead."""
        jitter, ahead = [], []
        for t in range(FIRST, FRAMES):
            v, u, d = self.moved(found[t], t, t - 1)
            jitter.append(np.minimum(abs(found[t - 1][v, u] - d), 8).mean())
        for t in range(FIRST, FRAMES - 2):
            nearest = np.zeros(found[t].shape)
            v, u, d = self.moved(self.later[t + 2], t + 2, t)
            np.maximum.at(nearest, (v, u), d)
            ahead.append(per_cent(abs(found[t] - nearest) > 1, nearest > 0))
        return np.mean(jitter), np.mean(ahead)


def drive_maps(program, preset, mode, *settings):
    return maps(program, preset, mode, DRIVE, f"{DRIVE}/calib.txt", 90, *settings)[0]


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [PRESET...]")
    if not os.path.isdir(SCENES):
        subprocess.run(["build/draw_sequences", SCENES], check=True)
    drive = os.path.isdir(DRIVE) and Drive(
        drive_maps(sys.argv[1], "default", "off", "refinement=learned"))
    print("| off > on | " + " | ".join(FIGURES) + " |\n|---|" + "---|" * len(FIGURES), flush=True)
    for preset in sys.argv[2:] or ["live", "default"]:
        for name in ("desk", "street", "room"):
            folder = os.path.join(SCENES, name)
            truth = np.fromfile(f"{folder}/truth.i16", np.int16).reshape(FRAMES, 4, *SIZE)
            for cameras in ("clean", "noise", "worse"):
                (off, off_ms), (on, on_ms) = (
                    maps(program=sys.argv[1], preset=preset, mode=mode, most=truth[:, 0].max() / 16,
                         pictures=f"{folder}/{cameras}", calibration=f"{folder}/calibration.txt")
                    for mode in ("off", "on"))
                cells = zip([*figures(off, off, truth), off_ms], [*figures(on, off, truth), on_ms])
                print(f"| `{preset}`, {name}, {cameras} | " +
                      " | ".join(f"{a:.2f} > {b:.2f}" for a, b in cells) + " |", flush=True)
        if drive:
            off, on = (drive.figures(drive_maps(sys.argv[1], preset, mode))
                       for mode in ("off", "on"))
            print(f"| `{preset}`, kitti_seq1: jitter, ahead | {off[0]:.3f} > {on[0]:.3f} | "
                  f"{off[1]:.2f} > {on[1]:.2f} |" + " |" * (len(FIGURES) - 2), flush=True)


if __name__ == "__main__":
    main()
