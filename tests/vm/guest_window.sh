# What the guest's tests of the window share: a display, and a program of tests that runs on it.
# LIVESTEREO_TEST_CAMERAS: its cameras may be opened, since nobody looks at them.
# SPDX-License-Identifier: MIT
mkdir -p /usr /tmp/.X11-unix
ln -s /bin /usr/bin
export DISPLAY=:1 LIBGL_DRIVERS_PATH=$(cat /data/plugins) LIVESTEREO_BIN=/bin/livestereo \
    LP_NUM_THREADS=0 XLOCALEDIR=/data/locale LIVESTEREO_TEST_CAMERAS=1
on_display() { # on_display PROGRAM...: TAP, and its status
    Xvfb :1 -screen 0 1000x700x24 -noreset -r -xkbdir /data/xkb >/tmp/xvfb 2>&1 &
    i=0
    while [ ! -e /tmp/.X11-unix/X1 ] && [ $i -lt 300 ]; do sleep 0.1; i=$((i + 1)); done
    "$@" >/tmp/report 2>/tmp/messages
    status=$?
    [ $status = 0 ] || cat /tmp/messages /tmp/xvfb | tail -n 30 | sed 's/^/# /'
    grep -E '^(#|ok|not ok)' /tmp/report | grep -vE 'Start of|End of|random seed'
    echo "1..$(grep -cE '^(ok|not ok)' /tmp/report)"
    return $status
}
