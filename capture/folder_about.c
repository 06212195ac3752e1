/*
 * The function of capture/folder_about.h. SPDX-License-Identifier: MIT
 */
#include "capture/folder_about.h"

#include "capture/source_private.h"
#include "config/file.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TIMES (16 << 20) /* bytes of a list of times */
#define MAX_ABOUT (1 << 16)  /* bytes of pair.ini and calib.txt */
#define MAX_DISPARITIES 512

/* The first of these files that the folder has. g_free; NULL: none. */
static char *find(const char *folder, const char *const *names) {
    for (; *names; names++) {
        char *path = g_build_filename(folder, *names, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
            return path;
        g_free(path);
    }
    return NULL;
}

/* Seconds of a line: KITTI odometry's "1.036224e+00" or KITTI raw's "2011-09-26 13:02:25.964".
 * False for anything else. */
static bool parse_time(const char *line, GTimeZone *zone, double *seconds) {
    char *end;
    g_autoptr(GDateTime) date = g_date_time_new_from_iso8601(line, zone);
    if (date) {
        *seconds = (double)g_date_time_to_unix(date) + g_date_time_get_microsecond(date) / 1e6;
        return true;
    }
    *seconds = g_ascii_strtod(line, &end);
    return end > line && *end == '\0';
}

static double read_rate(const char *folder) {
    static const char *const names[] = {"times.txt",
                                        "timestamps.txt",
                                        "image_00/timestamps.txt",
                                        "image_02/timestamps.txt",
                                        "../times.txt",
                                        NULL};
    g_autofree char *path = find(folder, names);
    char *text;
    size_t length;
    if (!path || file_load(path, MAX_TIMES, &text, &length) != 0)
        return 0;
    g_autoptr(GTimeZone) zone = g_time_zone_new_utc();
    double first = 0, last = 0;
    long count = 0;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        double seconds;
        if (!*g_strstrip(line))
            continue;
        if (!parse_time(line, zone, &seconds))
            break;
        if (count++ == 0)
            first = seconds;
        last = seconds;
    }
    free(text);
    return count > 1 ? rate_of_fraction((double)(count - 1), last - first) : 0;
}

/* disparities of pair.ini, else ndisp of Middlebury's calib.txt. */
static int read_disparities(const char *folder) {
    g_autofree char *ini = g_build_filename(folder, "pair.ini", NULL),
                    *calib = g_build_filename(folder, "calib.txt", NULL);
    g_autoptr(GKeyFile) file = g_key_file_new();
    char *text;
    size_t length;
    int count = 0;
    if (g_key_file_load_from_file(file, ini, G_KEY_FILE_NONE, NULL))
        count = g_key_file_get_integer(file, "pair", "disparities", NULL);
    if (count == 0 && g_file_test(calib, G_FILE_TEST_EXISTS) &&
        file_load(calib, MAX_ABOUT, &text, &length) == 0) {
        const char *at = strstr(text, "ndisp=");
        if (at && (at == text || at[-1] == '\n'))
            count = (int)g_ascii_strtoll(at + strlen("ndisp="), NULL, 10);
        free(text);
    }
    return count >= 2 && count <= MAX_DISPARITIES ? count : 0;
}

void folder_about_read(const char *folder, struct folder_about *about) {
    static const char *const calibrations[] = {"calib.txt",
                                               "calib_cam_to_cam.txt",
                                               "../calib_cam_to_cam.txt",
                                               "calibration.yml",
                                               "rig.yml",
                                               NULL};
    *about = (struct folder_about){.calibration = find(folder, calibrations),
                                   .rate = read_rate(folder),
                                   .disparities = read_disparities(folder)};
}
