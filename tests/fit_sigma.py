#!/usr/bin/env python3
# Makes config/sigma_table.inc, the error in px within which 68 % of the disparities lie, from
#   livestereo eval --confidence errors.csv DIR...
#   tests/fit_sigma.py errors.csv > config/sigma_table.inc
# A row for 8 confidences from 64 on: the mean over the pairs, each weighted by its share of pixels
# there, and never more than in the row before.
# SPDX-License-Identifier: MIT
import csv
import sys

pairs = {}
for name, confidence, count, _, error in csv.reader(open(sys.argv[1])):
    if error != "nan":
        pairs.setdefault(name, []).append((int(confidence), int(count), float(error)))
least, values = float("inf"), []
for first in range(64, 256, 8):
    weights = errors = 0.0
    for rows in pairs.values():
        total = sum(count for _, count, _ in rows)
        for confidence, count, error in rows:
            if first <= confidence < first + 8:
                weights += count / total
                errors += error * count / total
    least = min(least, errors / weights) if weights else least
    values.append("%.2f" % least)
for i in range(0, len(values), 8):
    print("    " + ", ".join(values[i:i + 8]) + ",")
