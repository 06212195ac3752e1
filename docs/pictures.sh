#!/bin/bash
# The pictures of the window in this folder and the pair in examples/, by docs/pictures.sh, with the
# program in build/ and the pictures in LIVESTEREO_DATA. It needs xvfb-run, xdotool, ImageMagick and
# gst-launch-1.0. SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
if [ -z "${PICTURES_FOLDER:-}" ]; then
    PICTURES_FOLDER=$(mktemp -d)
    export PICTURES_FOLDER
    exec xvfb-run -a -s "-screen 0 1280x800x24" "$0"
fi
folder=$PICTURES_FOLDER map=$PICTURES_FOLDER/map
trap 'rm -r "$folder"' EXIT
export HOME="$folder" XDG_CONFIG_HOME="$folder" XDG_STATE_HOME="$folder" XDG_CACHE_HOME="$folder" \
    XDG_DATA_HOME="$folder"

rests() { # until the window shows what it computes
    until grep -qs '^state current 1' "$map" && grep -q '^state rest 1' "$map"; do sleep 0.2; done
    sleep 0.5
}
open() { # OPTIONS...
    rm -f "$map"
    build/livestereo view -q --window 1280x800 --paused --quality mid --ui-map "$map" "$@" &
    rests
}
shut() {
    kill $!
    wait $! || true
}
take() { # FILE WIDTH
    sleep 0.6
    rests
    import -window root "$folder/screen.png"
    convert "$folder/screen.png" -resize "$2x" -quality 80 -strip "$1"
}
shot() { # NAME ACTIONS OPTIONS...: the window at rest after actions of xdotool
    local name=$1 actions=$2
    shift 2
    open "$@"
    # shellcheck disable=SC2086
    xdotool $actions
    take "docs/$name.jpg" 960
    shut
}

desk=synth:
shot screenshot 'mousemove 195 435' $desk
shot light 'mousemove 515 420' --theme light $desk
shot wide 'mousemove 640 300' $desk,width=1242,height=374
shot measure 'key d mousemove 330 590 click 1 sleep 1 mousemove 775 530 click 1' --view 4 $desk
boards=${LIVESTEREO_DATA:-../shared/data}/calibration/opencv
shot calibrate 'mousemove 640 600' --view 8 --calib "$boards/reference.yml" \
    --set disparity_range=256 "$boards/left04.jpg" "$boards/right04.jpg"
build/livestereo view -q --window 1280x800 --frames 2 --screenshot "$folder/start.png"
convert "$folder/start.png" -resize 960x -quality 80 -strip docs/start.jpg

# The loop: metres under the mouse, the wipe to the truth, then the scene turned in space.
open $desk
for at in '100 360' '195 435' '345 330' '515 420' '590 190'; do
    # shellcheck disable=SC2086
    xdotool mousemove $at
    take "$folder/1-${at% *}.png" 900
done
xdotool key shift+t
for at in 240 320 400 480; do
    xdotool mousemove $at 300
    take "$folder/2-$at.png" 900
done
xdotool key shift+t key shift+t key 9
for turn in 1 2 3 4 5 6 7; do
    xdotool mousemove 250 400 sleep 0.3 mousedown 1
    for _ in 1 2 3 4; do # what happens within one frame is not a drag
        sleep 0.3
        xdotool mousemove_relative -- $((turn > 4 ? 15 : -15)) $((turn < 3 ? -3 : 2))
    done
    sleep 0.3
    xdotool mouseup 1
    [ $turn != 3 ] || xdotool mousemove 405 540 # the mug
    take "$folder/3-$turn.png" 900
    [ $turn != 3 ] || convert "$folder/screen.png" -resize 960x -quality 80 -strip docs/space.jpg
done
shut
convert -loop 0 -delay 45 "$folder"/1-*.png -delay 35 "$folder"/2-*.png -delay 42 "$folder"/3-*.png \
    -quality 55 docs/live.webp

# The pair of examples/: the desk, whose rig examples/calibration.txt describes.
build/livestereo record -q synth:width=320,height=240,range=48,noise=0 --frames 1 \
    -o "$folder/desk.mkv"
for side in left right; do
    [ $side = left ] && track=0 || track=1
    gst-launch-1.0 -q filesrc location="$folder/desk.mkv" ! matroskademux name=file \
        file.video_$track ! avdec_ffv1 ! videoconvert ! video/x-raw,format=RGB ! \
        pngenc compression-level=9 ! filesink location=examples/$side.png
done
