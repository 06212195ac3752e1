#!/bin/sh
# The pictures of the window in this folder and the pair in examples/, by docs/pictures.sh, with the
# program in build/ and the pictures in LIVESTEREO_DATA. It needs xvfb-run, xdotool and
# gst-launch-1.0. docs/screens.sh has all sizes.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PICTURES_FOLDER:-}" ]; then
    PICTURES_FOLDER=$(mktemp -d)
    export PICTURES_FOLDER
    exec xvfb-run -a -s "-screen 0 1280x800x24" "$0"
fi
folder=$PICTURES_FOLDER
trap 'rm -r "$folder"' EXIT
export HOME="$folder" XDG_CONFIG_HOME="$folder" XDG_STATE_HOME="$folder" XDG_CACHE_HOME="$folder" \
    XDG_DATA_HOME="$folder"

# NAME SIZE OPTIONS...: the window after some frames
sized() {
    name=$1 size=$2
    shift 2
    build/livestereo view -q --window "$size" --frames 2 --quality mid \
        --screenshot "docs/$name.png" "$@"
}

# NAME OPTIONS...
shot() {
    name=$1
    shift
    sized "$name" 1280x800 "$@"
}

# NAME ACTIONS OPTIONS...: the window that stands still, after actions of xdotool
rests() { # until the window shows what it computes
    until grep -qs '^state current 1' "$folder/map" && grep -q '^state rest 1' "$folder/map"; do
        sleep 0.2
    done
}
acted() {
    name=$1 actions=$2
    shift 2
    build/livestereo view -q --window 1280x800 --paused --quality mid -o "$folder/out" \
        --ui-map "$folder/map" "$@" &
    rests
    # shellcheck disable=SC2086
    xdotool $actions
    sleep 1
    rests
    xdotool key s
    until ls "$folder"/out/*.png >/dev/null 2>&1; do sleep 0.2; done
    sleep 1
    kill $!
    wait $! || true
    mv "$folder"/out/*.png "docs/$name.png"
    rm "$folder/map"
}

desk=synth:scene=desk
shot screenshot $desk
shot points --view 9 $desk
shot views --view 1357 $desk
shot light --theme light $desk
sized small 800x600 --ui-scale 2 $desk
acted measure 'key d mousemove 330 590 click 1 sleep 1 mousemove 775 530 click 1' --view 4 $desk
acted driving 'key i' synth:scene=desk,width=1242,height=374
shot start
data=${LIVESTEREO_DATA:-../shared/data}
boards=$data/calibration/opencv
shot rows --view 8 --calib "$boards/reference.yml" --set disparity_range=256 \
    "$boards/left04.jpg" "$boards/right04.jpg"
build/livestereo motion -q --window 1280x800 --frames 1 --screenshot docs/motion_window.png \
    --view 4 --metres-per-pixel 4000 --scale 0.5 "$data/clouds/goes_irma_ir"

# The pair of examples/: the desk, whose rig examples/calibration.txt describes.
build/livestereo record -q synth:scene=desk,width=320,height=240,range=48,noise=0 --frames 1 \
    -o "$folder/desk.mkv"
for side in left right; do
    [ $side = left ] && track=0 || track=1
    gst-launch-1.0 -q filesrc location="$folder/desk.mkv" ! matroskademux name=file \
        file.video_$track ! avdec_ffv1 ! videoconvert ! video/x-raw,format=RGB ! \
        pngenc compression-level=9 ! filesink location=examples/$side.png
done
