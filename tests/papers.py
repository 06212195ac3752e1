#!/usr/bin/env python3
"""usage: tests/papers.py PROGRAM DATA | --bandwidth WIDTH HEIGHT LABELS [TILE INNER]

Runs the commands in the tables of docs/PAPERS.md and writes what they give into the column "ours".
Rows whose "figure" is empty are left as they are: times, which depend on the machine, and what
needs a GPU. DATA is the folder with the pairs. Test programs are those beside PROGRAM. A row whose
command fails stays as it is, and the exit code is 1.

--bandwidth prints the bytes that an iteration of belief propagation moves to and from memory for
each pixel (docs/METHODS.md has the counts). SPDX-License-Identifier: MIT"""
import json
import os
import re
import subprocess
import sys

PAGE = "docs/PAPERS.md"


def bytes_of_iteration(labels, tile=0, inner=0):
    """Of all messages in the four directions once: along rows and columns (BP-M) where a row or a
    column fits into the cache, or of one of tile_inner iterations where a tile does."""
    if not tile:
        costs, across, along_old, along_new = 2, 2, 2, 2
        return 2 * (costs + across + along_old + along_new) * labels
    borders = 2 * 4 / tile * labels
    pictures = 3 * (tile + tile + labels - 1) / tile
    label, disparity, confidence = 2, 2, 1
    return (borders + pictures + label + disparity + confidence) / inner


def bandwidth(words):
    width, height, labels, *tile = map(int, words)
    ours, plain = bytes_of_iteration(labels, *tile), bytes_of_iteration(labels)
    return ("%.3g MB, %.2g %%" % (ours * width * height / 1e6, 100 * ours / plain) if tile else
            "%.3g MB" % (plain * width * height / 1e6))


def figure(result, path):
    """A figure of a JSON line by its path: "nonocc.bad1", or "gap", the excess over the bound."""
    if path == "gap":
        return "%.2f %%" % (100 * (result["energy"] / result["bound"] - 1))
    if path == "memory":
        return "%.1f MiB" % (result["memory"] / (1 << 20))
    for key in path.split("."):
        result = result[key]
    return "%.0f" % result if path == "energy" else "%.2f" % result


def find_data(data, words):
    """Words that name pairs, with their folders."""
    for i, word in enumerate(words):
        for path in (os.path.join(data, word), os.path.join(data, "middlebury", word)):
            if words[i - 1] != "--preset" and os.path.exists(path):
                words[i] = path
    return words


def output_of(line):
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def run(program, data, command, path):
    name, *words = command.split()
    if name == "tests/papers.py":
        return bandwidth(words[1:])
    if name == "tests/solvers.py":
        return output_of([sys.executable, name, program, data] + words).strip()
    if name != "livestereo":
        shares = re.findall(r"[\d.]+ %", output_of([os.path.dirname(program) + name[5:]] + words))
        return ", ".join(shares)
    line = [program, words[0], "-q", "--json", "--set", "backend=cpu"] + find_data(data, words[1:])
    results = [json.loads(text) for text in output_of(line).splitlines()]
    if path.startswith("mean "):
        return "%.3f" % (sum(result[path[5:]] for result in results) / len(results))
    return ", ".join(figure(result, path) for result in results)


def main():
    program, data = sys.argv[1:3]
    os.environ["LIVESTEREO_DATA"] = data
    failed = False
    lines = open(PAGE, encoding="utf-8").read().split("\n")
    for i, line in enumerate(lines):
        cells = line.split(" | ")
        if len(cells) != 6 or not cells[1].startswith("`") or not cells[2].strip():
            continue
        before, command = cells[4], cells[1].split("`")[1]
        try:
            cells[4] = run(program, data, command, cells[2])
        except subprocess.CalledProcessError as error:
            failed = True
            print("%s: failed: %s" % (cells[0][2:], error.stderr.strip().split("\n")[-1]),
                  flush=True)
            continue
        print("%s: %s (paper %s)%s" % (cells[0][2:], cells[4], cells[3],
                                       "" if cells[4] == before else ", was " + before),
              flush=True)
        lines[i] = " | ".join(cells)
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write("\n".join(lines))
    return failed


if sys.argv[1] == "--bandwidth":
    print(bandwidth(sys.argv[2:]))
else:
    sys.exit(main())
