#!/bin/sh
# usage: docs/screens.sh FOLDER [PART...]
# Every screen of the window in every size, text of normal and of twice the size, dark and light,
# into FOLDER as PNG, and a sheet of half of each part, docs/screens_PART.jpg; by the program in
# build/, of built-in scenes and of docs/boards.py alone. It needs xvfb-run, python3 and GStreamer's
# compositor, jpegenc, pngdec, pngenc, matroskademux, FFV1 and ximagesrc. What is remembered lies in
# a folder of its own, which is removed.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
if [ -z "${SCREENS_DISPLAY:-}" ]; then
    export SCREENS_DISPLAY=1
    exec xvfb-run -a -s "-screen 0 3840x2160x24" "$0" "$@"
fi
home=$(mktemp -d)
trap 'rm -r "$home"' EXIT
export HOME="$home" XDG_CONFIG_HOME="$home" XDG_STATE_HOME="$home" XDG_CACHE_HOME="$home" \
    XDG_DATA_HOME="$home"
program=${LIVESTEREO_BIN:-build/livestereo}
to=$1
shift
mkdir -p "$to"

shot() { # NAME OPTIONS...: the window after some frames
    name=$1
    shift
    $program "$@" -q --screenshot "$to/$name.png" --frames 3 --quality low
}

# ---- each PART NAME OPTIONS..., where the options are size, text and theme

start() { shot "$1" view $2; }
desk() { shot "$1" view $2 synth:scene=desk; }
points() { shot "$1" view $2 --view 9 synth:scene=desk; }
wide() { shot "$1" view $2 --stats synth:scene=desk,width=1226,height=370; } # as from a car
motion() { $program motion $2 -q --screenshot "$to/$1.png" --frames 1 --stats \
    synth:scene=desk,width=400,height=300; }
papers() { $program view $2 -q --screenshot "$to/$1.png" --frames 1 --stats \
    --preset felzenszwalb2006 "$home/desk"; }

calibration() { # has no --screenshot
    map=$home/map
    rm -f "$map"
    $program calibrate $2 -q --board 9x6 --square 25mm --ui-map "$map" -o "$home/rig.yml" \
        "$home/boards" &
    until grep -qs '^state written 1' "$map" && grep -q '^state ended 1' "$map"; do sleep 0.2; done
    sleep 0.5
    size=${2#--window } size=${size%% *}
    gst-launch-1.0 -q ximagesrc use-damage=0 num-buffers=1 endx=$((${size%x*} - 1)) \
        endy=$((${size#*x} - 1)) ! videoconvert ! pngenc ! filesink location="$to/$1.png"
    kill $!
    wait $! || true
}

# What is opened and compared
mkdir -p "$home/desk"
docs/boards.py "$home/boards"
$program record -q synth:scene=desk --frames 1 -o "$home/desk.mkv"
gst-launch-1.0 -q filesrc location="$home/desk.mkv" ! matroskademux name=d \
    d.video_0 ! queue ! decodebin ! videoconvert ! pngenc ! \
        filesink location="$home/desk/left.png" \
    d.video_1 ! queue ! decodebin ! videoconvert ! pngenc ! \
        filesink location="$home/desk/right.png"

# The dark ones with normal text, below them the light ones with large text
sheet() { # PART
    inputs='' pads='' i=0
    for file in "$to/$1"-1-dark-*.png "$to/$1"-2-light-*.png; do
        pads="$pads sink_$i::xpos=$((i % 4 * 260)) sink_$i::ypos=$((i / 4 * 196))"
        inputs="$inputs filesrc location=$file ! pngdec ! videoconvert ! videoscale add-borders=true
            method=lanczos ! video/x-raw,width=256,height=192,pixel-aspect-ratio=1/1 ! c.sink_$i"
        i=$((i + 1))
    done
    # shellcheck disable=SC2086
    gst-launch-1.0 -q compositor name=c background=black $pads ! videoconvert ! \
        jpegenc quality=65 ! filesink location="docs/screens_$1.jpg" $inputs
}

for part in ${*:-start desk wide motion calibration points papers}; do
    for text in 1 2; do
        for theme in dark light; do
            for size in 0800x600 1280x800 1920x1080 3840x2160; do
                $part "$part-$text-$theme-$size" \
                    "--window ${size#0} --ui-scale $text --theme $theme"
            done
        done
    done
    sheet "$part"
done
