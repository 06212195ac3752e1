#!/bin/sh
# usage: tests/check.sh BUILD TARGET...
# Makes every target, whatever became of the ones before, and ends with the line
# "N passed, N failed, N skipped" over all of them. A target that fails without having reported a
# failed test (it did not build), or that succeeds without having reported anything, counts as one
# failure.
# SPDX-License-Identifier: MIT
set -u

build=$1
shift
mkdir -p "$build" || exit 1
COUNTS=$(pwd)/$build/counts
export COUNTS
FUZZ_SECONDS=${FUZZ_SECONDS:-5}
export FUZZ_SECONDS
: >"$COUNTS" || exit 1

lines() { wc -l <"$COUNTS"; }
failures() { awk '{ n += $2 } END { print n + 0 }' "$COUNTS"; }

for target; do
    echo "== $target"
    lines_before=$(lines)
    failures_before=$(failures)
    if ${MAKE:-make} --no-print-directory BUILD="$build" "$target"; then
        [ "$(lines)" -gt "$lines_before" ] || {
            echo "FAIL $target: reported no test"
            echo "0 1 0 $target" >>"$COUNTS"
        }
    elif [ "$(failures)" -eq "$failures_before" ]; then
        echo "FAIL $target: see above"
        echo "0 1 0 $target" >>"$COUNTS"
    fi
done

awk '{ passed += $1; failed += $2; skipped += $3; if ($2) names = names " " $4 }
     END { if (failed) print "failed in:" names
           printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
           exit failed > 0 || passed == 0 }' "$COUNTS"
