#!/bin/bash
# usage: tests/gpu_sanitize.sh BUILD
# The parity programs at small sizes under compute-sanitizer's four tools, on a machine with a GPU.
# SPDX-License-Identifier: MIT
set -u
build=$1 failed=0
command -v compute-sanitizer >/dev/null || { echo "SKIP: needs compute-sanitizer"; exit 77; }
for tool in memcheck racecheck initcheck synccheck; do
    for program in parity parity_frames; do
        log=$build/$program.$tool.log
        if compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/$program" --backend cuda \
            --small --seed 5 >"$log" 2>&1; then
            echo "ok $tool $program"
        else
            echo "FAIL $tool $program"
            grep -vE '^ok' "$log" | tail -n 20
            failed=1
        fi
    done
done
exit $failed
