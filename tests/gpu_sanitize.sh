#!/bin/bash
# usage: tests/gpu_sanitize.sh BUILD [TOOL:PROGRAM...]
# The parity programs at small sizes under compute-sanitizer's four tools, all at once, or those
# that are named, on a machine with a GPU. SPDX-License-Identifier: MIT
set -u
build=$1 failed=0
command -v compute-sanitizer >/dev/null || { echo "SKIP: needs compute-sanitizer"; exit 77; }
checks=("${@:2}")
[ $# -gt 1 ] || checks=({memcheck,racecheck,initcheck,synccheck}:{parity,parity_frames})
for check in "${checks[@]}"; do
    compute-sanitizer --tool "${check%:*}" --error-exitcode 1 "$build/${check#*:}" --backend cuda \
        --small --seed 5 >"$build/$check.log" 2>&1 &
    running[$!]=$check
done
for job in "${!running[@]}"; do
    check=${running[job]}
    if wait "$job"; then
        echo "ok $check, $SECONDS s: $(grep -c '^ok' "$build/$check.log") cases," \
            "$(grep -h SUMMARY "$build/$check.log")"
    else
        echo "FAIL $check"
        grep -vE '^ok' "$build/$check.log" | tail -n 20
        failed=1
    fi
done
exit $failed
