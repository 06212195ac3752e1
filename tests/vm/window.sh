# host: MODULES=vivid VIVID="n_devs=2;node_types=0x1,0x1" MEMORY=2048 LIMIT=900
# host: X="/usr/bin/xdotool /usr/bin/Xvfb /usr/bin/xkbcomp"
# host: PROGRAMS="BUILD/livestereo BUILD/test_gui_cameras $X"
# host: FILES="/usr/share/X11/xkb /usr/share/X11/locale" PLUGINS="$(tests/vm/window_libraries.sh)"
# In the guest: the window with cameras of the vivid driver, on a display of its own.
# SPDX-License-Identifier: MIT
. /data/guest_lib.sh
mkdir -p /usr /tmp/.X11-unix
ln -s /bin /usr/bin
export DISPLAY=:1 LIBGL_DRIVERS_PATH=$(cat /data/plugins) LIVESTEREO_BIN=/bin/livestereo \
    LP_NUM_THREADS=0 TMPDIR=/tmp XLOCALEDIR=/data/locale
Xvfb :1 -screen 0 1000x700x24 -noreset -r -xkbdir /data/xkb >/tmp/xvfb 2>&1 &
i=0
while [ ! -e /tmp/.X11-unix/X1 ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
test_gui_cameras >/tmp/report 2>/tmp/messages
status=$?
grep -E '^(ok|not ok)' /tmp/report
[ $status = 0 ] || { cat /tmp/report /tmp/messages /tmp/xvfb | tail -n 30 | sed 's/^/#   /'; }
echo "1..$(grep -cE '^(ok|not ok)' /tmp/report)"
exit $status
