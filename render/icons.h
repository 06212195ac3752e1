/*
 * The icons of the window, by their places in the font Material Icons.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#define ICON_OPEN "\ue2c8"
#define ICON_RECORD "\ue061"
#define ICON_SAVE "\ue412"
#define ICON_MEASURE "\ue41c"
#define ICON_POINTS "\ue84d"
#define ICON_COMPARE "\ue3b9"
#define ICON_UNDO "\ue166"
#define ICON_REDO "\ue15a"
#define ICON_HELP "\ue8fd"
#define ICON_MORE "\ue5d4"
#define ICON_DEPTH "\ue429"
#define ICON_CAMERA "\ue04b"
#define ICON_STATISTICS "\ue26b"
#define ICON_PROBES "\ue55f"
#define ICON_ALL "\ue8b8"
#define ICON_BACK "\ue045"
#define ICON_FORWARD "\ue044"
#define ICON_PLAY "\ue037"
#define ICON_PAUSE "\ue034"
#define ICON_LOOP "\ue028"
#define ICON_LIST "\ue5cf"
#define ICON_GOOD "\ue86c"
#define ICON_WARNING "\ue002"
#define ICON_INFO "\ue88e"
#define ICON_BOARD "\ue3ec"

/* All of them, for the font's picture. */
#define ICONS                                                                                      \
    ICON_OPEN ICON_RECORD ICON_SAVE ICON_MEASURE ICON_POINTS ICON_COMPARE ICON_UNDO ICON_REDO      \
        ICON_HELP ICON_MORE ICON_DEPTH ICON_CAMERA ICON_STATISTICS ICON_PROBES ICON_ALL ICON_BACK  \
            ICON_FORWARD ICON_PLAY ICON_PAUSE ICON_LOOP ICON_LIST ICON_GOOD ICON_WARNING ICON_INFO \
                ICON_BOARD
