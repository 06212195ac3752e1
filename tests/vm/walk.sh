# host: MODULES="vhci-hcd uvcvideo" MEMORY=2048 LIMIT=1200
# host: X="BUILD/given_input.so /usr/bin/Xvfb /usr/bin/xkbcomp"
# host: PROGRAMS="BUILD/livestereo BUILD/test_gui_walks BUILD/vm_usb_camera $X"
# host: FILES="/usr/share/X11/xkb /usr/share/X11/locale"
# host: FILES="$FILES BUILD/vm/boards/size BUILD/vm/boards/left.mjpg BUILD/vm/boards/right.mjpg"
# host: PLUGINS="$(tests/vm/window_libraries.sh)"
# In the guest: a rig maker's first way from two new webcams, on the kernel's uvcvideo driver, to
# metres. SPDX-License-Identifier: MIT
. /data/guest_window.sh
[ -e /data/size ] || { echo "1..0 # SKIP needs the boards of LIVESTEREO_DATA"; exit 0; }
for port in 0 1; do
    side=left
    [ $port = 0 ] || side=right
    vm_usb_camera $port "Test camera" $(cat /data/size) /data/$side.mjpg 0 0 &
    while [ $(ls /sys/class/video4linux 2>/dev/null | wc -l) -lt $((2 * port + 2)) ]; do
        sleep 0.05
    done
done
on_display test_gui_walks -p /gui/walks/webcams
