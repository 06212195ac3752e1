# host: MODULES=vivid VIVID="n_devs=2;node_types=0x1,0x1;num_inputs=2,2;input_types=0xc,0xc"
# host: PROGRAMS="BUILD/livestereo BUILD/vm_pairs /usr/bin/v4l2-ctl"
# In the guest: two cameras of the vivid driver with its fault injection.
# SPDX-License-Identifier: MIT
. /data/guest_lib.sh
rig=v4l2:platform:vivid-000,platform:vivid-001
left() { v4l2-ctl -d /dev/video0 -c "$1" >/dev/null; }

livestereo list >/tmp/report 2>/tmp/messages
check "list names both cameras" grep -q "v4l2:platform:vivid-000,platform:vivid-001" /tmp/report
check "list shows formats" grep -q "formats .*YUYV" /tmp/report
pairs -n 1 v4l2:platform:vivid-000,platform:vivid-007
check "a camera that is not there: exit code 3" [ $? = 3 ]
check "  one clear line" said "platform:vivid-007: no such camera; livestereo list shows"
pairs -n 1 -S 641x481 $rig
check "a size it has not: the sizes there are" said "has no mode 641x481; it has YUYV 320x180"

right() { v4l2-ctl -d /dev/video1 -c "$1" >/dev/null; }
has() { [ "$(v4l2-ctl -d "/dev/video$1" -C "$2")" = "$2: $3" ]; }
left brightness=100
left gain_automatic=0
left gain=33
right brightness=150
right gain_automatic=1
pairs -n 10 -L -S 640x480 -r 25 $rig
result $? "controls locked"
check "  both as the left camera is" grep -q "control Brightness: 100 100" /tmp/report
check "  automatics are off" grep -q "control Gain, Automatic: 0 0" /tmp/report
check "  and what they held is alike" grep -q "control Gain: 33 33" /tmp/report
check "  put back at the end" [ "$(has 0 brightness 100 && has 1 brightness 150 &&
    has 1 gain_automatic 1 && has 0 gain_automatic 0 && echo yes)" = yes ]

vm_pairs -n 1000 -s 8 $rig >/dev/null 2>&1 &
other=$!
sleep 2
pairs -n 1 $rig
check "a busy camera: exit code 3" [ $? = 3 ]
check "  what to do" said "left camera.*is in use by another program; close that first"
kill $other
wait $other 2>/dev/null
chmod 600 /dev/video0
echo "user:x:1000:1000::/:/bin/sh" >/etc/passwd
echo "video:x:44:" >/etc/group
chgrp 44 /dev/video0
start-stop-daemon -S -c 1000:1000 -x /bin/vm_pairs -- -n 1 $rig >/tmp/all 2>/tmp/messages
check "a camera one may not open: exit code 3" [ $? = 3 ]
check "  which group" said "only the group video may; join it with sudo usermod -aG video"
chmod 660 /dev/video0

pairs -n 60 -S 640x480 -r 25 $rig
result $? "640x480: 60 pairs"
check "  in order, within half a frame" pairs_in_order 21
check "  nothing unpaired but the start" is left unpaired -le 2
check "  rate" between "$(rate left)" 24.5 25.5
pairs -n 40 -S 640x480 -r 25 -f NV12 $rig
result $? "640x480 NV12"
pairs -n 40 -S 320x180 -r 25 -f GREY $rig
result $? "320x180 GREY"

pairs -n 20 -S 320x360 -f YUYV -r 25 sbs:platform:vivid-001
result $? "one camera, side by side"
check "  each frame is a pair" [ "$(field left unpaired)$(field left dropped)" = 00 ]
check "  the halves differ" awk '$5 == $6 { exit 1 }' /tmp/pairs

later 2 left percentage_of_dropped_buffers=30
later 5 left percentage_of_dropped_buffers=0
pairs -n 150 -S 320x180 -r 25 $rig
result $? "dropped buffers: goes on"
check "  counted by sequence" is left dropped -gt 10
check "  each leaves one right frame unpaired" is right unpaired -eq "$(field left dropped)"
check "  in order, within half a frame" pairs_in_order 21

later 2 left inject_v4l2_buf_flag_error=1
pairs -n 80 -S 320x180 -r 25 $rig
result $? "flagged buffer: goes on"
check "  counted" is left flagged -eq 1
check "  its partner is unpaired" is right unpaired -eq 1
check "  not called dropped" is left dropped -eq 0

left wrap_sequence_number=1
pairs -n 170 -S 320x180 -r 25 $rig
result $? "wrapped sequence number: goes on"
check "  nothing counted as dropped" is left dropped -eq 0
left wrap_sequence_number=0

left wrap_timestamp=1
pairs -n 60 -S 320x180 -r 25 $rig
result $? "wrapped time stamps: paired"
check "  by arrival" grep -q "by arrival" /tmp/report
check "  and that is said once" [ "$(grep -c 'paired by arrival' /tmp/messages)" = 1 ]
check "  gap by arrival below half a frame" between "$(gap)" -20 20
left wrap_timestamp=0

for call in reqbufs streamon; do
    left inject_vidioc_${call}_error=1
    pairs -n 20 -S 320x180 -r 25 $rig
    result $? "error of $call: taken again"
    check "  nothing is said" [ "$(grep -vc ' info: ' /tmp/messages)" = 0 ]
done

later 2 left inject_vidioc_qbuf_error=1
pairs -n 100 -S 320x180 -r 25 $rig
result $? "error of qbuf: comes back"
check "  one line says so" [ "$(grep -c 'warning: left camera.*taken up again' /tmp/messages)" = 1 ]
check "  counted" is left losses -eq 1
check "  in order" pairs_in_order 21

later 2 left percentage_of_dropped_buffers=100
later 5 left percentage_of_dropped_buffers=0
pairs -n 120 -S 320x180 -r 25 $rig
result $? "silent camera: comes back"
check "  one line says so" [ "$(grep -c 'left camera.*gives no frames' /tmp/messages)" = 1 ]
check "  counted" is left stalls -eq 1

later 2 left inject_fatal_streaming_error=1
pairs -n 100 -S 320x180 -r 25 $rig
result $? "fatal error: comes back"
check "  one line says so" [ "$(grep -c 'warning: left camera' /tmp/messages)" = 1 ]
check "  counted" is left losses -eq 1

later 2 left disconnect=1
pairs -n 100 -S 320x180 -r 25 $rig
result $? "disconnect: comes back"
check "  counted" is left losses -ge 1
check "  away for less than 2 s" longest_hole_below 2

(sleep 2; echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind; sleep 3
    echo vivid.0 >/sys/bus/platform/drivers/vivid/bind) &
pairs -n 120 -S 320x180 -r 25 $rig
result $? "both vanish and return: goes on"
check "  counted" [ "$(field left losses)" = 1 -a "$(field right losses)" = 1 ]
check "  back within 2 s of their return" longest_hole_below 5
check "no file is left open in any of it" [ "$(cat /tmp/leaks 2>/dev/null | sort -u)" = 0 ]

for device in 0 1; do v4l2-ctl -d /dev/video$device --set-input=1 >/dev/null; done
pairs -n 60 -S 320x240 $rig
result $? "320x240: 60 pairs"
check "  nothing unpaired but the start" is left unpaired -le 3
livestereo run -v $rig --size 320x240 --frames 2 --set disparity_range=16 --set bp_iterations=2 \
    --set lr_check=off --set cost_smoothing=off --set bp_levels=3 >/tmp/report 2>/tmp/messages
result $? "320x240: matched"
check "  two frames" grep -q "2 computed, 2 shown" /tmp/report
livestereo run $rig --size 640x480 --frames 1 --set disparity_range=16 --set bp_iterations=2 \
    --set lr_check=off --set cost_smoothing=off --set bp_levels=3 >/tmp/report 2>/tmp/messages
result $? "640x480: matched"
finish
