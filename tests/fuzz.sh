#!/bin/sh
# usage: tests/fuzz.sh BUILD PROGRAM
# Runs a fuzzer for FUZZ_SECONDS (default 60) from the seeds in tests/corpus/NAME; what it finds
# is kept in BUILD/corpus/NAME. That is one test. SPDX-License-Identifier: MIT
set -u

build=$1
program=$2
name=$(basename "$program")
name=${name#fuzz_}
found=$build/corpus/$name
seeds=tests/corpus/$name
[ -d "$seeds" ] || seeds=
mkdir -p "$found" || exit 1
exec tests/run.sh --step "fuzz:$name" sh -c '
    "$@" 2>"$0" || { tail -n 60 "$0"; exit 1; }
    grep "^Done" "$0"' "$program.log" \
    "$program" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=30 -rss_limit_mb=2048 \
    -print_final_stats=0 -artifact_prefix="$build/$name-" "$found" $seeds
