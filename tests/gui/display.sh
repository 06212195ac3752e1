#!/bin/sh
# usage: tests/gui/display.sh COMMAND [ARG...]
# Runs a command on a display of its own. LIVESTEREO_GUI_HERE=1 takes the one that is there. Without
# xvfb-run there is no display, and the command says what it makes of that.
# A server that starts anew when its last window closes would refuse one that opens meanwhile, and
# one that repeats keys would repeat those whose release comes late on a busy machine.
# SPDX-License-Identifier: MIT
if [ -z "${LIVESTEREO_GUI_HERE:-}" ]; then
    command -v xvfb-run >/dev/null && exec xvfb-run -a -s "-screen 0 3840x2160x24 -noreset -r" "$@"
    unset DISPLAY
fi
exec "$@"
