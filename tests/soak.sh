#!/bin/bash
# usage: tests/soak.sh PROGRAM [FRAMES]
# Live frames (default 100,000, at 500 a second) through one run: memory and descriptors a tenth of
# the way in and at the end, which must not have grown, and what the run says of the frames' age.
# SPDX-License-Identifier: MIT
set -u

program=$1
frames=${2:-100000}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

"$program" run --set disparity_range=8 --set bp_levels=2 --set threads=1 --set backend=cpu \
    "gst:videotestsrc is-live=true pattern=snow num-buffers=$frames !
     video/x-raw,format=GRAY8,width=64,height=24,framerate=500/1 ! appsink name=both" \
    >"$out" 2>&1 &
pid=$!
tenth=$((frames / 5000))
[ $tenth -ge 1 ] || tenth=1

look() { # the kilobytes in memory and the number of descriptors
    kb=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")
    open=$(ls "/proc/$pid/fd" | wc -l)
}

sleep $tenth
look
early_kb=$kb early_open=$open
while kill -0 $pid 2>/dev/null; do
    look 2>/dev/null
    [ -z "$kb" ] || late_kb=$kb late_open=$open
    sleep 0.5
done
wait $pid || { cat "$out"; exit 1; }
grep -E '^(frames|rate|age|left)' "$out"
echo "memory    $early_kb kB after a tenth, $late_kb kB at the end"
echo "files     $early_open open after a tenth, $late_open at the end"
[ $((late_kb - early_kb)) -lt 4096 ] && [ "$late_open" -le "$early_open" ]
