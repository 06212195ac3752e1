/*
 * usage: make_recording FILE.mkv FRAMES WIDTH HEIGHT A side-by-side recording (MJPEG in Matroska,
 * 30 frames a second) with things that move, for measurements.
 * SPDX-License-Identifier: MIT
 */
#include "tests/recording.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: make_recording FILE.mkv FRAMES WIDTH HEIGHT\n");
        return 2;
    }
    int width = 2 * atoi(argv[3]);
    g_autofree char *launch = g_strdup_printf(
        "videotestsrc num-buffers=%s pattern=ball animation-mode=frames ! "
        "video/x-raw,width=%d,height=%s,framerate=30/1 ! jpegenc quality=85 ! matroskamux ! "
        "filesink location=%s",
        argv[2], width, argv[4], argv[1]);
    gboolean good = recording_write(launch, 0, 30);
    if (!good)
        fprintf(stderr, "make_recording: needs gstreamer1.0-plugins-base and -good\n");
    return good ? 0 : 1;
}
