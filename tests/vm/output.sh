# host: MODULES=vivid
# host: VIVID="n_devs=1;node_types=0x101;num_inputs=1;input_types=3;num_outputs=1;output_types=1"
# host: PROGRAMS="BUILD/livestereo /usr/bin/v4l2-ctl"
# host: PLUGINS="$(tests/vm/plugins.sh coreelements app videoconvertscale video4linux2)"

# In the guest: --out v4l2: into the output of a vivid device, whose input is looped to it, so that
# a reader of that input sees what --out gst: writes to a file. SPDX-License-Identifier: MIT
. /data/guest_lib.sh
export GST_PLUGIN_PATH="$(cat /data/plugins)" GST_REGISTRY_FORK=no
in=/dev/video0
out=/dev/video1
still="synth:width=640,height=480,range=4,frames=1,color=0 --preset plain --set disparity_range=4
    --set bp_iterations=1 --set bp_levels=1 --set threads=1"

# looped WHAT FOURCC BYTES PIPELINE: of one picture, shown again and again
looped() {
    livestereo run $still --out "gst:$4filesink location=/tmp/want" --out-what $1 \
        >/tmp/report 2>/tmp/messages
    result $? "$1 into a file"
    v4l2-ctl -d $in --set-fmt-video=width=640,height=480,pixelformat="$2" >/dev/null
    livestereo run $still --loop --rate 1 --out v4l2:$out --out-what $1 >/tmp/report \
        2>/tmp/messages &
    sender=$!
    for try in 1 2 3 4 5; do
        sleep 4
        v4l2-ctl -d $in --stream-mmap=4 --stream-count=1 --stream-skip=4 --stream-to=/tmp/got \
            >/dev/null 2>&1
        cmp -s -n $3 /tmp/got /tmp/want && break
    done
    check "$1: a reader of the device gets the same bytes" cmp -n $3 /tmp/got /tmp/want
    kill -INT $sender
    wait $sender
    check "  nothing is said" [ "$(grep -vc ' info: ' /tmp/messages)" = 0 ]
    check "  pictures were sent" grep -q "^out  *[1-9]" /tmp/report
}
for device in $in $out; do v4l2-ctl -d $device --set-dv-bt-timings index=0 >/dev/null; done
v4l2-ctl -d $in -c osd_text_mode=2 >/dev/null
v4l2-ctl -d $in -c loop_video=1 >/dev/null
looped disparity "Y16 " 614400 ""
looped left GREY 307200 ""
looped color YUYV 614400 "videoconvert ! video/x-raw,format=YUY2 ! "

livestereo run $still --out v4l2:$in >/tmp/report 2>/tmp/messages
[ $? = 1 ]
result $? "a camera takes nothing: the run goes on, its exit code is 1"
check "  one line says so" [ "$(grep -c 'warning: --out: .*tried again' /tmp/messages)" = 1 ]
finish
