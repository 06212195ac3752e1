#!/usr/bin/env python3
# Makes gpu/stages/chance_table.inc, the chance that a disparity is off by at most 1 px, from
#   livestereo eval --set confidence=cell --confidence cells.csv DIR...
#   tests/fit_chance.py cells.csv > gpu/stages/chance_table.inc
# Every pair weighs the same; a cell that hardly occurs is drawn to what its kind has. Cells of
# pixels that failed the checks have at most 127, all others at least 128. On stderr: for each
# scene the area under the curve of bad-1.0 against density with a table made of all other scenes,
# the least possible area, and that of no order at all.
# SPDX-License-Identifier: MIT
import csv
import sys

CELLS, KIND, RARE = 256, 64, 2e-4


def read(path):
    pairs = {}
    for name, cell, count, bad, _ in csv.reader(open(path)):
        pairs.setdefault(name, {})[int(cell)] = (int(count), int(bad))
    return pairs


def table(pairs):
    all_, bad = [0.0] * CELLS, [0.0] * CELLS
    for cells in pairs.values():
        total = sum(count for count, _ in cells.values())
        for cell, (count, wrong) in cells.items():
            all_[cell] += count / total / len(pairs)
            bad[cell] += wrong / total / len(pairs)
    chance = []
    for cell in range(CELLS):
        kind = range(cell // KIND * KIND, cell // KIND * KIND + KIND)
        prior = sum(bad[i] for i in kind) / max(sum(all_[i] for i in kind), 1e-9)
        chance.append(1 - (bad[cell] + RARE * prior) / (all_[cell] + RARE))
    return chance


def area(cells, score):
    kept = wrong = total = 0.0
    for cell in sorted(cells, key=score, reverse=True):
        count, bad = cells[cell]
        steps = min(count, 50)
        for k in range(steps):
            part = (k + 0.5) / steps
            total += (wrong + part * bad) / (kept + part * count) * count / steps
        kept += count
        wrong += bad
    return 100 * total / kept


def share(cells):
    return 100 * sum(b for _, b in cells.values()) / sum(c for c, _ in cells.values())


def best(cells):
    count = sum(c for c, _ in cells.values())
    bad = sum(b for _, b in cells.values())
    return area({0: (count - bad, 0), 1: (max(bad, 1), bad)}, lambda i: -i)


def main():
    pairs = read(sys.argv[1])
    for name, cells in pairs.items():
        scene = name.split("/")[0]
        others = {n: c for n, c in pairs.items() if n.split("/")[0] != scene}
        chance = table(others)
        print("%-28s %6.2f %6.2f %6.2f" % (name, area(cells, lambda i: chance[i]), best(cells),
                                           share(cells)), file=sys.stderr)
    values = [min(round(255 * c), 127) if i < KIND else max(round(255 * c), 128)
              for i, c in enumerate(table(pairs))]
    for i in range(0, CELLS, 16):
        print("    " + ", ".join("%3d" % v for v in values[i:i + 16]) + ",")


main()
