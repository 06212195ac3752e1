#!/usr/bin/env python3
"""usage: tests/papers.py PROGRAM DATA [--slow]

Runs the commands in the tables of docs/PAPERS.md and writes what they give into the column "ours".
Rows marked "slow" take minutes each and are left as they are without --slow, rows without a command
always. DATA is the folder with the pairs. SPDX-License-Identifier: MIT"""
import json
import re
import subprocess
import sys

PAGE = "docs/PAPERS.md"


def figure(result, path):
    """A figure of a JSON line by its path: "nonocc.bad1", or "gap", the excess over the bound."""
    if path == "gap":
        return "%.2f %%" % (100 * (result["energy"] / result["bound"] - 1))
    for key in path.split("."):
        result = result[key]
    return "%.0f" % result if path in ("energy", "bound") else "%.2f" % result


def run(program, data, command, path):
    words = command.split()[2:]
    pairs = [word for word in words if re.fullmatch("[a-z]+", word)]
    options = words[:len(words) - len(pairs)]
    folders = [data + "/middlebury/" + pair for pair in pairs]
    line = [program, "eval", "-q", "--json", "--set", "backend=cpu"] + options + folders
    lines = subprocess.run(line, check=True, capture_output=True, text=True).stdout.splitlines()
    return ", ".join(figure(json.loads(text), path) for text in lines)


def main():
    program, data = sys.argv[1:3]
    slow = "--slow" in sys.argv
    lines = open(PAGE, encoding="utf-8").read().split("\n")
    for i, line in enumerate(lines):
        cells = line.split(" | ")
        if len(cells) != 6 or not cells[1].startswith("`livestereo eval"):
            continue
        if cells[1].endswith("slow") and not slow:
            continue
        before, command = cells[4], cells[1].split("`")[1]
        cells[4] = run(program, data, command, cells[2])
        print("%s: %s (paper %s)%s" % (cells[0][2:], cells[4], cells[3],
                                       "" if cells[4] == before else ", was " + before))
        lines[i] = " | ".join(cells)
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write("\n".join(lines))


main()
