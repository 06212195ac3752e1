# host: MODULES="vhci-hcd uvcvideo" LIMIT=400 UVC=nodrop=1
# host: PROGRAMS="BUILD/livestereo BUILD/vm_pairs BUILD/vm_usb_camera /usr/bin/v4l2-ctl"
# host: FILES="BUILD/vm/kitti BUILD/vm/small BUILD/vm/one"
# host: PLUGINS="$(tests/vm/plugins.sh)" BACK=.
# In the guest: two USB webcams on the kernel's uvcvideo driver, which play our own pictures.
# SPDX-License-Identifier: MIT
. /data/guest_lib.sh
export GST_PLUGIN_SYSTEM_PATH_1_0=$(cat /data/plugins 2>/dev/null)
export GST_REGISTRY=/tmp/registry GST_REGISTRY_FORK=no

nodes() { ls /sys/class/video4linux 2>/dev/null | wc -l; }
# plug SIDE CLIP|i420 OFFSET_US PPM: waits for both of its nodes, then the process is in $pid
plug() {
    port=0
    [ $1 = right ] && port=1
    before=$(nodes)
    clip="$(cat /data/$2/size 2>/dev/null) /data/$2/$1.mjpg"
    [ $2 = i420 ] && clip="160x120 i420"
    vm_usb_camera $port "Test $1" $clip $3 $4 &
    pid=$!
    i=0
    while [ $(nodes) -lt $((before + 2)) ] && [ $i -lt 300 ]; do sleep 0.02; i=$((i + 1)); done
    eval "pid_$1=$pid"
}
pull() { # pull SIDE: until both of its nodes are gone
    eval "pid=\$pid_$1"
    before=$(nodes)
    kill $pid
    wait $pid 2>/dev/null
    i=0
    while [ $(nodes) -gt $((before - 2)) ] && [ $i -lt 300 ]; do sleep 0.02; i=$((i + 1)); done
}
tell() { eval "kill -$1 \$pid_$2"; } # tell SIGNAL SIDE
rig=v4l2:usb-vhci_hcd.0-1,usb-vhci_hcd.0-2
plain="--set disparity_range=16 --set bp_iterations=2 --set bp_levels=3 --set lr_check=off
    --set cost_smoothing=off --set fill=0 --set median_radius=0"
# What the files' pairs look like: "pair K - - LEFT_HASH RIGHT_HASH"
files() { vm_pairs -n 1000 /data/$1 2>/dev/null | grep '^pair ' >/tmp/files; }
# Every pair that came is one of the files'
pairs_of_files() { awk 'NR == FNR { there[$5 $6] = 1; next } !($5 $6 in there) { bad = 1 }
    END { exit bad || FNR == 0 }' /tmp/files /tmp/pairs; }
# Left pictures are left files, right pictures right files
sides_of_files() { awk 'NR == FNR { l[$5] = 1; r[$6] = 1; next } !($5 in l && $6 in r) { bad = 1 }
    END { exit bad || FNR == 0 }' /tmp/files /tmp/pairs; }
# Pictures move on as their times do: by as many files as intervals of so many us (left, right)
contents_follow_times() { awk -v tl="$1" -v tr="$2" '
    NR == FNR { l[$5] = FNR - 1; r[$6] = FNR - 1; n = FNR; next }
    { if (FNR > 1) { dl = int(($3 - t) / 1000 / tl + 0.5); dr = int(($4 - u) / 1000 / tr + 0.5)
          if ((l[$5] - a - dl) % n || (r[$6] - b - dr) % n) bad++ }
      t = $3; u = $4; a = l[$5]; b = r[$6] }
    END { exit bad || FNR < 2 }' /tmp/files /tmp/pairs; }

plug left kitti 0 0
plug right kitti 3000 0
files kitti
livestereo list >/tmp/report 2>/tmp/messages
check "list: metadata nodes are left out" [ "$(grep -c '^    node' /tmp/report)" = 2 ]
check "list: the rig to paste, by bus or serial" grep -q "v4l2:usb-vhci_hcd.0-1,usb-vhci_hcd.0-2" \
    /tmp/report

pairs -n 60 -r 15 -f MJPG -o /out/kitti.mkv $rig
result $? "MJPG, right 3 ms later: 60 pairs, recorded"
cp /tmp/pairs /out/kitti.pairs
check "  nothing dropped" [ "$(field left dropped)$(field right dropped)" = 00 ]
check "  nothing damaged" [ "$(field left damaged)$(field right damaged)" = 00 ]
check "  every frame paired from the first pair on" [ "$(field right unpaired)" = 0 -a \
    "$(field left unpaired)" -le 2 ]
check "  gap 3.0 +- 0.3 ms" between "$(gap)" 2.7 3.3
check "  each pair is one of the files" pairs_of_files
check "  contents follow times" contents_follow_times 66666.6 66666.6

pull right
pull left
plug left one 0 0
plug right one 3000 0
livestereo run $rig --rate 15 --frames 1 $plain --save-disparity /tmp/live.png >/tmp/report \
    2>/tmp/messages
result $? "one pair live"
livestereo batch /data/one -o /tmp/batch $plain >/tmp/report 2>/tmp/messages
check "  the disparities of batch on the same files" cmp /tmp/live.png /tmp/batch/000_disp16.png
pull right
pull left

# Uncompressed frames of a format that only libv4l2 can read, all of one colour
plug left i420 0 0
plug right i420 0 0
pairs -n 20 -m -r 15 $rig
result $? "a format that libv4l2 converts: 20 pairs"
check "  nothing damaged" [ "$(field left damaged)$(field right damaged)" = 00 ]
check "  its colour" awk '$1 == "mean" { found = $2 > 180 && $2 < 225 && $3 > 75 && $3 < 110 &&
    $4 > 50 && $4 < 95 } END { exit !found }' /tmp/report
pull right
pull left

plug left small 0 0
plug right small 3000 0
files small

# Every disparity of the live rig is that of batch on the same files, in the same order.
mkdir -p /tmp/live
livestereo run $rig --rate 10 --frames 51 $plain --save-disparity /tmp/live/%06d.png \
    >/tmp/report 2>/tmp/messages
result $? "51 pairs live"
livestereo batch /data/small -o /tmp/batch $plain >/tmp/report 2>/tmp/messages
result $? "the same files by batch"
numbers() { sed 's/  0*\([0-9]\)/ \1/; s/[_.].*//'; } # without zeros, which make them octal
(cd /tmp/batch && md5sum *_disp16.png) | numbers >/tmp/batch.md5
(cd /tmp/live && md5sum *.png) | numbers >/tmp/live.md5
echo "# $(wc -l </tmp/live.md5) live disparities compared with $(wc -l </tmp/batch.md5) of batch"
check "  all the same" awk '
    NR == FNR { if ($1 in at) twice = 1; at[$1] = $2 + 0; n = FNR; next }
    !($1 in at) { bad = 1; next }
    { shift = (($2 - at[$1]) % n + n) % n; if (FNR > 1 && shift != first) bad = 1; first = shift }
    END { exit bad || twice || FNR < 40 }' /tmp/batch.md5 /tmp/live.md5
later 2 tell USR1 left
pairs -n 60 -r 15 $rig
result $? "frame with the error flag: goes on"
check "  counted as flagged" is left flagged -eq 1
check "  its partner is unpaired" is right unpaired -eq 1

later 2 tell HUP right
pairs -n 60 -r 15 $rig
result $? "frame cut in half: goes on"
check "  counted as damaged" is right damaged -eq 1
check "  and never seen" pairs_of_files

later 2 tell USR2 left
pairs -n 75 -r 15 $rig
result $? "camera stalls for 2 s: goes on"
check "  counted" is left stalls -eq 1
check "  one line says so" [ "$(grep -c 'left camera.*gives no frames' /tmp/messages)" = 1 ]

v4l2-ctl -d /dev/video0 -c brightness=77
pairs -n 30 -r 15 $rig
check "controls are as they were" [ "$(v4l2-ctl -d /dev/video0 -C brightness)" = "brightness: 77" ]

(sleep 2; pull left; pull right; sleep 1; plug right small 3000 0; plug left small 0 0
    cut -d' ' -f1 /proc/uptime >/tmp/plugged; echo "$pid_left $pid_right" >/tmp/pids) &
pairs -n 90 -r 15 -s 60 $rig
result $? "unplugged, replugged in the other order: goes on"
wait
read pid_left pid_right </tmp/pids
check "  the nodes have changed places" grep -q left /sys/class/video4linux/video2/name
check "  left stays left" sides_of_files
check "  each pair is one of the files" pairs_of_files
check "  lost once each" [ "$(field left losses)$(field right losses)" = 11 ]
check "  back within 2 s of the last plug" back_within 2 /tmp/plugged
check "no file is left open in any of it" [ "$(sort -u /tmp/leaks)" = 0 ]
kill $pid_left $pid_right
i=0
while [ $(nodes) -gt 0 ] && [ $i -lt 300 ]; do sleep 0.02; i=$((i + 1)); done

plug left small 0 0
plug right small 3000 2000
pairs -n 3075 -r 10 -s 350 $rig
result $? "2000 ppm of drift over five minutes: 3075 pairs"
check "  in order, within half a frame and a sixteenth" pairs_in_order 56.3
check "  contents follow times" contents_follow_times 100000 100200
# 615 ms of drift are six or seven frames of 100 ms, so that the sixth slip is over before the end:
# each leaves one frame of the faster camera alone and none of the slower one. Beside them only
# those of the start, before both cameras stream.
echo "# unpaired: $(field left unpaired) left, $(field right unpaired) right"
check "  each slip costs one left frame" between "$(field left unpaired)" 6 9
check "  and no right one" is right unpaired -le 1
finish
