#!/bin/bash
# usage: tests/results.sh PROGRAM [PRESET...]
# Writes the tables of docs/RESULTS.md: of these presets clean and degraded, of the temporal
# filter while the rig moves, of every preset on four pairs. SPDX-License-Identifier: MIT
set -eu
page=docs/RESULTS.md
program=$1
shift
presets=${*:-live default driving best}
middlebury=${LIVESTEREO_DATA:-../shared/data}/middlebury
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
    sed '/^## Presets/q' $page
    echo
    # shellcheck disable=SC2086
    tests/accuracy.py "$program" $presets
    printf '\n## A rig that moves\n\n%s\n\n' \
        "The temporal filter off > on; \`tests/moving_accuracy.py\` says what the columns are."
    tests/moving_accuracy.py "$program" live default
    printf '\n## Every preset\n\n%s\n%s\n\n' \
        '`livestereo eval --preset` of each: bad-1.0 in per cent, energy with its own parameters,' \
        'and MiB of a frame on the CPU backend.'
    printf '| preset | pair | nonocc | all | energy | MiB |\n|---|---|---|---|---|---|\n'
    for preset in $("$program" --list-presets); do # those of motion need other folders
        "$program" eval -q --json --preset "$preset" "$middlebury"/{tsukuba,venus,teddy,cones} \
            2>/dev/null | sed "s/^{/{\"preset\": \"$preset\", /" || true
    done | python3 -c '
import json, sys
for r in map(json.loads, sys.stdin):
    print("| `%s` | %s | %.2f | %.2f | %.0f | %.1f |" % (
        r["preset"], r["name"], r["nonocc"]["bad1"], r["all"]["bad1"], r["energy"], r["mib"]))'
} >"$new"
cat "$new" >$page
