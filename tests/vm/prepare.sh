#!/bin/bash
# usage: tests/vm/prepare.sh BUILD NAME...
# Makes the programs BUILD/vm_test_NAME that run the guest scripts of these names in the virtual
# machine, and BUILD/vm_test_replay; all print TAP.
# SPDX-License-Identifier: MIT
set -eu

build=$1
shift
# What the emulated cameras play: KITTI's frames where the test data are, else a made scene.
mkdir -p "$build/vm"
if [ ! -e "$build/vm/clips" ]; then
    kitti=${LIVESTEREO_DATA:-../shared/data}/driving/kitti_seq1
    [ -d "$kitti" ] || kitti=synth:width=1226,height=370,frames=51
    "$build/vm_make_clip" 1 51 "$build/vm/kitti" "$kitti" >"$build/vm/size"
    mv "$build/vm/size" "$build/vm/kitti/size"
    "$build/vm_make_clip" 6 51 "$build/vm/small" "$kitti" >"$build/vm/size"
    mv "$build/vm/size" "$build/vm/small/size"
    "$build/vm_make_clip" 4 1 "$build/vm/one" "$kitti" >"$build/vm/size"
    mv "$build/vm/size" "$build/vm/one/size"
    touch "$build/vm/clips"
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
