#!/usr/bin/env python3
"""Prints a Markdown table of the errors of some presets on all pairs with ground truth, clean,
degraded and drawn, and a score: accuracy.py PROGRAM [PRESET[=WEIGHTS]...]. The pairs are those of
the folder LIVESTEREO_DATA; WEIGHTS is a file of weights for the learned descriptor.

Rooms are drawn homes, which the score counts, and six real ones with polygons that are planes,
which rooms.py beside them measures.

The means are over pairs: the twelve are bad-1.0 of nonocc, all and disc of the first four pairs.
The score is the mean, over families of pairs that count the same, of the mean over pairs of our
error over OpenCV's SGBM's (8 paths, 3x3, RGB, filled: tests/sgbm), which SGBM_FIGURES holds; at
least half a per cent each. The error is bad-1.0 of what both cameras see, of drives D1.

accuracy.py --sgbm COMPARE_SGBM computes that file again. build/draw_scenes draws the random scenes:
SEEDS are for tuning; take others for what is reported of them.
SPDX-License-Identifier: MIT
"""
import concurrent.futures
import contextlib
import csv
import json
import os
import subprocess
import sys
import tempfile

FOUR = ["tsukuba", "venus", "teddy", "cones"]
TWELVE_DRIVING = ["kitti2012_0_1", "kitti2015_46", "kitti_0048_lidar", "kitti_object_campus",
                  "kitti_object_dev"]
EIGHT_DRIVING = ["kitti2015_pair", "kitti2015_46", "kitti_object_dev"]
# Each is a column of its own; its mean over pairs counts as much as every other one's.
DEGRADED = ["noise=6", "noise=12", "light=0.25,noise=3", "gain=1.3,offset=10", "gamma=0.7",
            "vignette=0.4", "blur=1", "jpeg=40", "rows=0.5", "rows=1"]
# The score counts each family the same: names of folders, or of a degraded set.
FAMILIES = {
    "Middlebury 2001": ["tsukuba", "venus"],
    "Middlebury 2003": ["teddy", "cones", "teddy_half"],
    "Middlebury 2005, 2006": ["reindeer", "cloth3", "aloe"],
    "Middlebury 2014": ["motorcycle"],
    "KITTI 2012, 2015": ["kitti2012_0_1", "kitti2015_46", "kitti2015_pair"],
    "KITTI raw, noise": ["kitti_0005_noisy"],
}
TESTS = os.path.dirname(os.path.abspath(__file__))
SGBM_FIGURES = os.path.join(TESTS, "sgbm", "figures.txt")
DEGRADE = os.path.join(TESTS, "degrade.py")
SCENES = {"scenes": "build/scenes", "places": "build/scenes_places",
          "homes": "build/scenes_homes"}
SEEDS = range(10, 50)
DEGRADED_SCORED = ["noise=6", "gamma=0.7"]
LEAST = 0.5
SURE = 229  # confidences above it are above 90 %


def folders(group, names):
    data = os.environ.get("LIVESTEREO_DATA", "../shared/data")
    return [os.path.join(SCENES.get(group) or os.path.join(data, group), name) for name in names]


@contextlib.contextmanager
def pairs(group, names, degrade=None):
    """Folders of pairs; degraded ones are made for the time."""
    paths = folders(group, names)
    with tempfile.TemporaryDirectory() as made:
        if degrade:
            out = os.path.join(made, group)
            subprocess.run([DEGRADE, degrade, out] + paths, check=True)
            paths = [os.path.join(out, name) for name in names]
        yield paths


def scene_names(group="scenes"):
    return sorted(name for name in os.listdir(SCENES[group]) if int(name.split("_")[1]) in SEEDS)


def draw_scenes():
    for group, folder in SCENES.items():
        if not os.path.isdir(folder) or len(scene_names(group)) < len(SEEDS):
            subprocess.run(["build/draw_scenes", folder, str(SEEDS[0]), str(len(SEEDS))] +
                           ([] if group == "scenes" else [group]), check=True)


def evaluate(program, preset, group, names, degrade=None):
    """The results of all pairs of some folders; one thread, since other evaluations run. Of drawn
    scenes, also how many pixels are scored, sure, and sure but wrong. Of "rooms" real_rooms()'s."""
    if group == "rooms":
        return real_rooms(program, preset)
    name, _, weights = preset.partition("=")
    command = [program, "eval", "-q", "--json", "--preset", name, "--set", "threads=1"]
    if weights:
        command += ["--weights", weights]
    with tempfile.NamedTemporaryFile("r") as counts, pairs(group, names, degrade) as paths:
        if group in SCENES:
            command += ["--confidence", counts.name]
        done = subprocess.run(command + paths, stdout=subprocess.PIPE, check=True)
        results = [json.loads(line) for line in done.stdout.splitlines()]
        lines = [(line[0], *map(int, line[1:4])) for line in csv.reader(counts)]
        for result in results:
            own = [line[1:] for line in lines if line[0] == result["name"]]
            sure = [line for line in own if line[0] > SURE]
            result["sure"] = [sum(n for _, n, _ in own), sum(n for _, n, _ in sure),
                              sum(wrong for _, _, wrong in sure)]
    return results


def real_rooms(program, preset):
    """What rooms.py says of all planes: flat, sure, and of what is sure off, per cent."""
    name, _, weights = preset.partition("=")
    folder, = folders("rooms", ["."])
    done = subprocess.run([sys.executable, os.path.join(folder, "rooms.py"), program, folder,
                           "--preset", name, "--set", "threads=1"] +
                          (["--weights", weights] if weights else []),
                          stdout=subprocess.PIPE, text=True, check=True)
    words = done.stdout.splitlines()[-1].split()
    return [float(words[words.index(word) + 1]) for word in ("flat", "sure", "off")]


def rows_of_rooms(figures):
    names = "flat", "sure", "off by 2 px of what is sure"
    return [(f"six real rooms, planes, {name}", value) for name, value in zip(names, figures)]


def error_of(result):
    """What the score compares: bad-1.0 of what both cameras see, of all, or D1."""
    if result["group"] == "driving":
        return result["d1"]
    return (result["nonocc"] or result["all"])["bad1"]


def sgbm_figures():
    with open(SGBM_FIGURES, encoding="utf-8") as lines:
        words = [line.split() for line in lines if not line.startswith("#")]
    return {(degrade, name): float(error) for degrade, name, error in words}


def write_sgbm(tool):
    """Computes SGBM_FIGURES."""
    with open(SGBM_FIGURES, "w", encoding="utf-8") as out:
        print("# OpenCV's SGBM: 8 paths, 3x3, RGB, P1 = 216, P2 = 864, filled; per cent.\n"
              "# make sgbm-figures; SPDX-License-Identifier: MIT", file=out, flush=True)
        for arguments in scored_jobs():
            degrade = arguments[2] if len(arguments) > 2 else "-"
            with pairs(*arguments) as paths:
                subprocess.run([tool, "figures", degrade] + paths, stdout=out, check=True)


def scored_jobs():
    """Of jobs(), those that the score counts, without what none of its families has."""
    for arguments, _ in jobs():
        if len(arguments) > 2 and arguments[2] in DEGRADED_SCORED:
            yield arguments
        elif (len(arguments) == 2 and arguments[1] != TWELVE_DRIVING and
              arguments[0] not in ("places", "rooms")):
            yield arguments


def ratio(results, degrade, figures):
    """The mean of our errors over SGBM's."""
    return mean(max(error_of(r), LEAST) / max(figures[degrade, r["name"]], LEAST) for r in results)


def score_rows(done, figures):
    """done: pairs of evaluate()'s arguments and results."""
    clean = {}
    for arguments, results in done:
        for r in results if len(arguments) == 2 and arguments[0] != "rooms" else []:
            clean.setdefault(r["name"].split("/")[0], {})[r["name"]] = r
    families = {**FAMILIES, "rendered": ["flyingthings_a"] + scene_names(),
                "rooms": scene_names("homes")}
    rows = [(f"over SGBM's: {name}",
             ratio([r for f in names for r in clean[f].values()], "-", figures))
            for name, names in families.items()]
    rows.append(("over SGBM's: degraded", mean(ratio(results, a[2], figures)
                                               for a, results in done
                                               if a[2:] and a[2] in DEGRADED_SCORED)))
    return rows + [("**score**, 1 is SGBM's", mean(value for _, value in rows))]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def nonocc(results):
    return mean(r["nonocc"]["bad1"] for r in results)


def whole(results):
    return mean(r["all"]["bad1"] for r in results)


def rows_of_scenes(results):
    """By kind, which the name begins with, and how sure what is wrong is."""
    kinds = sorted({r["name"].split("_")[0] for r in results})
    rows = [(f"drawn, {kind}, bad-1.0, nonocc",
             nonocc(r for r in results if r["name"].startswith(kind))) for kind in kinds]
    return rows + [("drawn, wrong of what is sure above 90 %", sure_of(results)[1])]


def rows_of_homes(results):
    return [("drawn homes, bad-1.0, nonocc", nonocc(results)),
            ("drawn homes, wrong of what is sure above 90 %", sure_of(results)[1])]


def sure_of(results):
    """How much is sure, and how much of that is wrong."""
    scored, sure, wrong = (sum(r["sure"][i] for r in results) for i in range(3))
    return 100 * sure / scored, 100 * wrong / max(sure, 1)


def rows_of_places(results):
    """By kind, of the places that are scored: each scene's share counts by its pixels."""
    rows = []
    for kind in ("sky", "metal", "strip", "fence", "table"):
        of_kind = [r for r in results if r["name"].startswith(kind) and r["sure"][0]]
        scored = [r["sure"][0] for r in of_kind]
        wrong = sum(r["all"]["bad1"] * n for r, n in zip(of_kind, scored)) / sum(scored)
        sure, sure_wrong = sure_of(of_kind)
        rows += [(f"place, {kind}, bad-1.0", wrong), (f"place, {kind}, sure above 90 %", sure),
                 (f"place, {kind}, wrong of what is sure", sure_wrong)]
    return rows


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
    for name in ("reindeer", "cloth3"):
        yield ("middlebury", [name]), mean_row(f"{name}, bad-1.0, nonocc", nonocc)
    yield ("middlebury", ["teddy_half"]), mean_row("teddy_half, bad-1.0, all", whole)
    yield ("synthetic", ["flyingthings_a"]), mean_row("flyingthings_a, bad-1.0, all", whole)
    yield ("scenes", scene_names()), rows_of_scenes
    yield ("places", scene_names("places")), rows_of_places
    yield ("homes", scene_names("homes")), rows_of_homes
    yield ("rooms", None), rows_of_rooms
    for name in ("kitti2012_0_1", "kitti2015_46"):
        yield ("driving", [name]), mean_row(f"{name}, D1", d1)
    yield ("driving", ["kitti2015_pair"]), mean_row("kitti2015_pair, D1", d1)
    yield ("driving", TWELVE_DRIVING), mean_row("12 driving pairs, D1", d1)
    yield ("driving", ["kitti_0005_noisy"]), mean_row("noisy drive, four frames, D1", d1)
    for degrade in DEGRADED:
        yield (("middlebury", FOUR + ["motorcycle"], degrade),
               mean_row(f"five Middlebury, bad-1.0, {degrade}", nonocc))
    for degrade in DEGRADED:
        yield ("driving", EIGHT_DRIVING, degrade), mean_row(f"8 driving pairs, D1, {degrade}", d1)


def column(pool, program, preset):
    """The arguments and futures of a preset's groups, in the order of the rows."""
    return [(arguments, pool.submit(evaluate, program, preset, *arguments), rows)
            for arguments, rows in jobs()]


def with_means(rows):
    """Adds the mean of the degraded columns after the last one of each set."""
    for name in ("five Middlebury", "8 driving pairs"):
        last = max(i for i, row in enumerate(rows) if row[0].startswith(name))
        values = [value for key, value in rows if key.startswith(name)]
        rows = rows[:last + 1] + [(f"**{name}, mean of the {len(values)}**", mean(values))] + \
            rows[last + 1:]
    return rows


def table_column(futures, figures):
    done = [(arguments, future.result()) for arguments, future, _ in futures]
    rows = [row for (_, _, rows), (_, results) in zip(futures, done) for row in rows(results)]
    return with_means(rows) + score_rows(done, figures)


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [PRESET[=WEIGHTS]...] | --sgbm COMPARE_SGBM")
    draw_scenes()
    if sys.argv[1] == "--sgbm":
        write_sgbm(sys.argv[2])
        return
    presets = sys.argv[2:] or ["default", "live", "driving"]
    figures = sgbm_figures()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        columns = [column(pool, sys.argv[1], preset) for preset in presets]
        table = [table_column(futures, figures) for futures in columns]
    print("| per cent | " + " | ".join(presets) + " |")
    print("|---|" + "---|" * len(presets))
    for rows in zip(*table):
        print(f"| {rows[0][0]} | " + " | ".join(f"{value:.2f}" for _, value in rows) + " |")


if __name__ == "__main__":
    main()
