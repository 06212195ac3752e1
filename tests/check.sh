#!/bin/sh
# usage: tests/check.sh BUILD 'TARGET...' REPORT...
# Makes all targets with one $CHECK_MAKE that goes on after failures, and ends with the line
# "N passed, N failed, N skipped" over all of them. A REPORT is the name of a line of counts that
# they add; one that is missing (it did not build) counts as one failure. Before the last line it
# says how many seconds of processor time tests took, and which took most.
# SPDX-License-Identifier: MIT
set -u

build=$1
targets=$2
shift 2
mkdir -p "$build" || exit 1
COUNTS=$(pwd)/$build/counts
export COUNTS
FUZZ_SECONDS=${FUZZ_SECONDS:-5}
export FUZZ_SECONDS
: >"$COUNTS" && : >"$COUNTS.seconds" || exit 1

${CHECK_MAKE:-make} --keep-going BUILD="$build" $targets
made=$?
for name; do
    awk -v name="$name" '$4 == name { found = 1 } END { exit !found }' "$COUNTS" || {
        echo "FAIL $name: reported no test, see above"
        echo "0 1 0 $name" >>"$COUNTS"
    }
done
if [ $made -ne 0 ] && awk '$2 { failed = 1 } END { exit failed }' "$COUNTS"; then
    echo "FAIL make: see above"
    echo "0 1 0 make" >>"$COUNTS"
fi

sort -rn "$COUNTS.seconds" | awk '{ total += $1 } NR < 6 { most = most ", " $2 " " $1 }
    END { printf "processor time of tests: %d s%s\n", total, most }'
awk '{ passed += $1; failed += $2; skipped += $3; if ($2) names = names " " $4 }
     END { if (failed) print "failed in:" names
           printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
           exit failed > 0 || passed == 0 }' "$COUNTS"
