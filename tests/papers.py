#!/usr/bin/env python3
"""usage: tests/papers.py PROGRAM DATA | --bandwidth | --memory

Runs the commands in the tables of docs/PAPERS.md and writes what they give into the column "ours".
Rows whose "figure" is empty are left as they are: times, which depend on the machine, and what
needs a GPU. DATA is the folder with the pairs. Test programs are those beside PROGRAM. A row whose
command fails stays as it is, and the exit code is 1.

--bandwidth and --memory print tables IV and III of Liang et al. 2011 by the paper's own equations.
SPDX-License-Identifier: MIT"""
import json
import os
import re
import subprocess
import sys
import tempfile

PAGE = "docs/PAPERS.md"


TILES = (16, 32, 64)


def bandwidth():
    """Liang et al. 2011, table IV, GB/s: N = 640x480 pixels, L = 64 labels, 30 pictures a second.
    BP-M moves 20 NL values in each of 20 iterations, tiles 16 NL / B in each of 5 outer ones at
    their borders (equation 6), and all data costs, 2 NL an outer iteration, or, where a tile
    computes them, both pictures there and back, 4 N."""
    values = 640 * 480 * 64 * 30 / 2 ** 30
    borders = [16 * 5 / tile * values for tile in TILES]
    tiles = ", ".join("%.2f" % (b + 2 * 5 * values) for b in borders)
    computed = ", ".join("%.2f" % (b + 4 * 5 * values / 64) for b in borders)
    return "%.2f; %s; %s" % (20 * 20 * values, tiles, computed)


def memory():
    """Table III, % of plain belief propagation, which stores five volumes of N values a label:
    A + B + C: messages at borders (4 / B of a volume) and of a tile, all data costs; A alone."""
    pixels = 640 * 480
    border = [100 * 4 / tile / 5 for tile in TILES]
    inside = [100 * 4 / 5 * tile * tile / pixels for tile in TILES]
    return "; ".join(", ".join("%.2f" % v for v in row) for row in (
        [a + b + 20 for a, b in zip(border, inside)], border))


def figure(result, path):
    """A figure of a JSON line by its path, such as "nonocc.bad1"."""
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
        return memory() if words == ["--memory"] else bandwidth()
    if name == "tests/moved.py":
        means = output_of([sys.executable, name, program, words[0]] + find_data(data, words[1:]))
        return means.split()[-3]
    if name == "tests/solvers.py":
        return output_of([sys.executable, name, program, data] + words).strip()
    if name == "tests/degrade.py":
        _, livestereo = command.split("; ")
        keys, _, *pairs = words[:words.index("livestereo")]
        pairs[-1] = pairs[-1].strip(";")
        with tempfile.TemporaryDirectory() as out:
            output_of([sys.executable, name, keys, out] + find_data(data, list(pairs)))
            made = " ".join(os.path.join(out, pair) for pair in pairs)
            return run(program, data, livestereo.replace("OUT/*", made), path)
    if name == "build/bench_gpu":
        line = [os.path.dirname(program) + name[5:], "--backend", "cpu"] + words
        return output_of(line).split("\n")[2].split()[-2] + " MiB"
    if name != "livestereo":
        shares = re.findall(r"[\d.]+ %", output_of([os.path.dirname(program) + name[5:]] + words))
        return ", ".join(shares)
    line = [program, words[0], "-q", "--json", "--set", "backend=cpu"] + find_data(data, words[1:])
    results = [json.loads(text) for text in output_of(line).splitlines()]
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


if sys.argv[1:2] in (["--bandwidth"], ["--memory"]):
    print(bandwidth() if sys.argv[1] == "--bandwidth" else memory())
else:
    sys.exit(main())
