#!/usr/bin/env python3
"""Prints a Markdown table of the errors of some presets on all pairs with ground truth, clean and
degraded: accuracy.py PROGRAM [PRESET[=WEIGHTS]...]. The pairs are those of the folder
LIVESTEREO_DATA; WEIGHTS is a file of weights for the learned descriptor.

The means are over pairs: the twelve are bad-1.0 of nonocc, all and disc of the first four pairs.
SPDX-License-Identifier: MIT
"""
import concurrent.futures
import json
import os
import subprocess
import sys

FOUR = ["tsukuba", "venus", "teddy", "cones"]
TWELVE_DRIVING = ["kitti2012_0_1", "kitti2015_46", "kitti_0048_lidar", "kitti_object_campus",
                  "kitti_object_dev"]
EIGHT_DRIVING = ["kitti2015_pair", "kitti2015_46", "kitti_object_dev"]
# Each is a column of its own; its mean over pairs counts as much as every other one's.
DEGRADED = ["noise=6", "noise=12", "light=0.25,noise=3", "gain=1.3,offset=10", "gamma=0.7",
            "vignette=0.4", "blur=1", "jpeg=40", "rows=0.5", "rows=1"]


def folders(group, names):
    data = os.environ.get("LIVESTEREO_DATA", "../shared/data")
    return [os.path.join(data, group, name) for name in names]


def evaluate(program, preset, group, names, degrade=None):
    """The results of all pairs of some folders; one thread, since other evaluations run."""
    name, _, weights = preset.partition("=")
    command = [program, "eval", "-q", "--json", "--preset", name, "--set", "threads=1"]
    if weights:
        command += ["--weights", weights]
    if degrade:
        command += ["--degrade", degrade]
    done = subprocess.run(command + folders(group, names), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def nonocc(results):
    return mean(r["nonocc"]["bad1"] for r in results)


def d1(results):
    return mean(r["d1"] for r in results)


def rows_of_four(results):
    rows = [(f"{r['name']}, bad-1.0, {mask}", r[mask]["bad1"])
            for r in results for mask in ("nonocc", "all", "disc")]
    return rows + [("**mean of the twelve**", mean(value for _, value in rows))]


def mean_row(name, measure):
    return lambda results: [(name, measure(results))]


def jobs():
    """Lists of (arguments of evaluate, function from its results to rows)."""
    yield ("middlebury", FOUR), rows_of_four
    for name in ("motorcycle", "aloe"):
        yield ("middlebury", [name]), mean_row(f"{name}, bad-1.0, nonocc", nonocc)
    yield ("driving", ["kitti2015_pair"]), mean_row("kitti2015_pair, D1", d1)
    yield ("driving", TWELVE_DRIVING), mean_row("12 driving pairs, D1", d1)
    yield ("driving", ["kitti_0005_noisy"]), mean_row("noisy drive, four frames, D1", d1)
    for degrade in DEGRADED:
        yield (("middlebury", FOUR + ["motorcycle"], degrade),
               mean_row(f"five Middlebury, bad-1.0, {degrade}", nonocc))
    for degrade in DEGRADED:
        yield ("driving", EIGHT_DRIVING, degrade), mean_row(f"8 driving pairs, D1, {degrade}", d1)


def column(pool, program, preset):
    """The futures of a preset's groups, in the order of the rows."""
    return [(pool.submit(evaluate, program, preset, *arguments), rows)
            for arguments, rows in jobs()]


def with_means(rows):
    """Adds the mean of the degraded columns after the last one of each set."""
    for name in ("five Middlebury", "8 driving pairs"):
        last = max(i for i, row in enumerate(rows) if row[0].startswith(name))
        values = [value for key, value in rows if key.startswith(name)]
        rows = rows[:last + 1] + [(f"**{name}, mean of the {len(values)}**", mean(values))] + \
            rows[last + 1:]
    return rows


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [PRESET[=WEIGHTS]...]")
    presets = sys.argv[2:] or ["default", "live", "driving"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        columns = [column(pool, sys.argv[1], preset) for preset in presets]
        table = [with_means([row for future, rows in futures for row in rows(future.result())])
                 for futures in columns]
    print("| per cent | " + " | ".join(presets) + " |")
    print("|---|" + "---|" * len(presets))
    for rows in zip(*table):
        print(f"| {rows[0][0]} | " + " | ".join(f"{value:.2f}" for _, value in rows) + " |")


if __name__ == "__main__":
    main()
