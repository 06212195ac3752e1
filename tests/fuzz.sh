#!/bin/sh
# usage: tests/fuzz.sh BUILD PROGRAM...
# Runs each fuzzer for FUZZ_SECONDS (default 60) from the seeds in tests/corpus/NAME; what it finds
# is kept in BUILD/corpus/NAME. Each is one test. SPDX-License-Identifier: MIT
set -u

build=$1
shift
[ $# -gt 0 ] || exec tests/run.sh fuzz

status=0
for program; do
    name=$(basename "$program")
    name=${name#fuzz_}
    found=$build/corpus/$name
    seeds=tests/corpus/$name
    [ -d "$seeds" ] || seeds=
    mkdir -p "$found" || exit 1
    log=$program.log
    tests/run.sh --step "fuzz:$name" sh -c '
        "$@" 2>"$0" || { tail -n 60 "$0"; exit 1; }
        grep "^Done" "$0"' "$log" \
        "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -rss_limit_mb=2048 \
        -print_final_stats=0 -artifact_prefix="$build/$name-" "$found" $seeds || status=1
done
exit $status
