/*
 * The function of capture/files/folder_about.h. SPDX-License-Identifier: MIT
 */
#include "capture/files/folder_about.h"

#include "capture/files/truth.h"
#include "capture/source_private.h"
#include "base/file.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ABOUT (1 << 16) /* bytes of a file */

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

/* The number behind KEY= at the start of a line; 0 where there is none. */
static double read_number(const char *folder, const char *name, const char *key) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text;
    size_t length;
    double number = 0;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
        file_load(path, MAX_ABOUT, &text, &length) != 0)
        return 0;
    const char *at = strstr(text, key);
    if (at && (at == text || at[-1] == '\n'))
        number = g_ascii_strtod(at + strlen(key), NULL);
    free(text);
    return number;
}

/* disparities of pair.ini, else ndisp of Middlebury's calib.txt; and pair.ini's scale. */
static int read_disparities(const char *folder, double *scale) {
    g_autofree char *path = g_build_filename(folder, "pair.ini", NULL);
    struct pair_ini ini;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR) || pair_ini_read(folder, &ini) != 0)
        ini = (struct pair_ini){0};
    *scale = ini.scale;
    double count = ini.disparities ? ini.disparities : read_number(folder, "calib.txt", "ndisp=");
    return count >= 2 && count <= MAX_LABELS ? (int)count : 0;
}

void folder_about_read(const char *folder, struct folder_about *about) {
    static const char *const calibrations[] = {"calib.txt",
                                               "calib_cam_to_cam.txt",
                                               "../calib_cam_to_cam.txt",
                                               "calibration.yml",
                                               "rig.yml",
                                               NULL};
    *about = (struct folder_about){.calibration = find(folder, calibrations)};
    about->rate = rate_of_fraction(read_number(folder, "camera.txt", "frame_rate_hz="), 1);
    about->disparities = read_disparities(folder, &about->disparity_scale);
}
