#!/bin/bash
# usage: tests/results.sh PROGRAM [PRESET...]
# Prints the tables of docs/RESULTS.md: these presets clean and degraded, the temporal filter while
# the rig moves, all other presets on four pairs. SPDX-License-Identifier: MIT
set -eu
program=$1
shift
presets=${*:-live default driving best}
middlebury=${LIVESTEREO_DATA:-../shared/data}/middlebury
# shellcheck disable=SC2086
tests/accuracy.py "$program" $presets
echo
tests/moving_accuracy.py "$program" live default
printf '\n| | Tsukuba | Venus | Teddy | Cones |\n|---|---|---|---|---|\n'
for preset in $("$program" --list-presets); do # those of motion need other folders
    [[ " $presets " != *" $preset "* ]] || continue
    "$program" eval -q --json --preset "$preset" "$middlebury"/{tsukuba,venus,teddy,cones} \
        2>/dev/null | python3 -c '
import json, sys
cells = ["%.2f, %.2f, %.0f, %.1f" % (r["nonocc"]["bad1"], r["all"]["bad1"], r["energy"], r["mib"])
         for r in map(json.loads, sys.stdin)]
if cells:
    print("| `%s` | %s |" % (sys.argv[1], " | ".join(cells)))' "$preset" || true
done
