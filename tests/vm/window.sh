# host: MODULES=vivid VIVID="n_devs=2;node_types=0x1,0x1" MEMORY=2048 LIMIT=900
# host: X="BUILD/given_input.so /usr/bin/Xvfb /usr/bin/xkbcomp"
# host: PROGRAMS="BUILD/livestereo BUILD/test_gui_cameras $X"
# host: FILES="/usr/share/X11/xkb /usr/share/X11/locale"
# host: PLUGINS="$(tests/vm/window_libraries.sh)"
# In the guest: the window with cameras of the vivid driver, on a display of its own.
# SPDX-License-Identifier: MIT
. /data/guest_window.sh
on_display test_gui_cameras
