#!/bin/bash
# usage: tests/vm/prepare.sh BUILD NAME...
# Makes the programs BUILD/vm_test_NAME that run the guest scripts of these names in the virtual
# machine, and BUILD/vm_test_replay; all print TAP.
# SPDX-License-Identifier: MIT
set -eu

build=$1
shift
# What the emulated cameras play: KITTI's frames where the test data are, else a made scene.
drive=${LIVESTEREO_DATA:-../shared/data}/driving/kitti_seq1
[ -d "$drive" ] || drive=synth:width=1226,height=370,frames=51
clip() { # clip NAME SCALE FRAMES SOURCE
    [ ! -e "$build/vm/$1/size" ] || return 0
    mkdir -p "$build/vm/$1"
    "$build/vm_make_clip" "$2" "$3" "$build/vm/$1" "$4" >"$build/vm/$1.size"
    mv "$build/vm/$1.size" "$build/vm/$1/size"
}
clip kitti 1 51 "$drive"
clip small 12 51 "$drive"
clip one 4 1 "$drive"
# For walk, boards held before both cameras, each for 1.3 s
boards=${LIVESTEREO_DATA:-../shared/data}/calibration/opencv
if [[ " $* " = *" walk "* ]] && [ -d "$boards" ] && [ ! -e "$build/vm/boards/size" ]; then
    held=$(mktemp -d)
    mkdir "$held/left" "$held/right"
    i=0
    for left in "$boards"/left??.jpg; do
        for k in $(seq 39); do
            n=$(printf %06d.jpg $i)
            ln -s "$(realpath "$left")" "$held/left/$n"
            ln -s "$(realpath "${left%left*}right${left##*left}")" "$held/right/$n"
            i=$((i + 1))
        done
    done
    clip boards 1 $i "$held"
    rm -r "$held"
fi
for name; do
    program=$build/vm_test_$name
    {
        echo "#!/bin/bash"
        sed -n "s/^# host: /export /p" "tests/vm/$name.sh"
        echo "exec tests/vm/boot.sh '$build' 'tests/vm/$name.sh'"
    } | sed "s|BUILD|$build|g" >"$program"
    chmod 755 "$program"
done
program=$build/vm_test_replay
printf '#!/bin/sh\nexec tests/vm/replay.sh %s\n' "'$build'" >"$program"
chmod 755 "$program"
