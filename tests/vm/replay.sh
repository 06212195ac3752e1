#!/bin/bash
# usage: tests/vm/replay.sh BUILD
# What uvc.sh recorded in the virtual machine, replayed outside: the same pairs, times and pixels,
# the same disparities as those of the JPEG files that the cameras played. Prints TAP.
# SPDX-License-Identifier: MIT
set -u

build=$1
recorded=$build/vm/out/uvc
if [ ! -e "$recorded/kitti.mkv" ]; then
    echo "1..0 # SKIP needs the recording of the uvc test"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0 failed=0
check() {
    number=$((number + 1))
    if "${@:2}" >"$work/log" 2>&1; then
        echo "ok $number $1"
    else
        failed=1
        echo "not ok $number $1"
        sed 's/^/# /' "$work/log"
    fi
}
"$build/vm_pairs" -n 1000 "$recorded/kitti.mkv" >"$work/all" 2>"$work/messages"
cut -d' ' -f3- <(grep '^pair ' "$work/all") >"$work/replayed"
cut -d' ' -f3- "$recorded/kitti.pairs" >"$work/live"
check "nothing is complained of" [ ! -s "$work/messages" ]
# All pairs are recorded, also one that a newer one overtook before the live reader took it.
check "live pairs are there, same times and pixels, in order" \
    diff "$work/live" <(grep -Fxf "$work/live" "$work/replayed")
more=$(($(wc -l <"$work/replayed") - $(wc -l <"$work/live")))
check "at most the last pairs more" [ $more -ge 0 -a $more -le 2 ]

# The disparities of every pair, from the recording and from the JPEG files it shows
settings="--preset plain --set disparity_range=16 --set bp_iterations=1 --set bp_levels=2"
check "disparities of the recording" "$build/livestereo" batch "$recorded/kitti.mkv" $settings \
    -o "$work/recording"
check "disparities of the files" "$build/livestereo" batch "$build/vm/kitti" $settings \
    -o "$work/files"
"$build/vm_pairs" -n 1000 "$build/vm/kitti" 2>/dev/null | grep '^pair ' >"$work/of_files"
compare() {
    local number=0 index hashes
    while read -r _ _ hashes; do
        index=$(grep -F "$hashes" "$work/of_files" | head -n 1 | cut -d' ' -f2)
        [ -n "$index" ] || { echo "pair $number is none of the files"; return 1; }
        cmp "$work/recording/$(printf %06d $number)_disp16.png" \
            "$work/files/$(printf %03d "$index")_disp16.png" || return 1
        number=$((number + 1))
    done <"$work/replayed"
    echo "# $number pairs compared" >&3
    [ $number -ge 60 ]
}
check "are the same for every pair" compare 3>&1
echo "1..$number"
exit $failed
