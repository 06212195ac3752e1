/*
 * The functions of app/batch/batch_rgbd.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_rgbd.h"

#include "app/batch/batch_files.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define INTRINSICS_START "{\n  \"depth_units_per_metre\": "

static int write_text(const char *folder, const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return batch_text_write(path, text);
}

int batch_rgbd_begin(const char *folder, const struct depth_geometry *geometry, int width,
                     int height) {
    static const char *const names[] = {"color", "depth"};
    const struct depth_geometry *g = geometry;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        if (g_mkdir_with_parents(path, 0777) != 0)
            return log_fail(-errno, path, "cannot make this folder: %s", strerror(errno));
    }
    g_autofree char *json = g_strdup_printf(
        INTRINSICS_START "%d,\n  \"baseline_metres\": %.17g,\n  \"width\": %d,\n  \"height\": %d,\n"
                         "  \"intrinsic_matrix\": [%.17g, 0, 0, 0, %.17g, 0, %.17g, %.17g, 1]\n}\n",
        RGBD_UNITS, g->baseline, width, height, g->fx, g->fy, g->cx, g->cy);
    g_autofree char *yaml = g_strdup_printf(
        "%%YAML:1.0\n---\ncamera_name: calibration\nimage_width: %d\nimage_height: %d\n"
        "camera_matrix:\n   rows: 3\n   cols: 3\n"
        "   data: [ %.17g, 0., %.17g, 0., %.17g, %.17g, 0., 0., 1. ]\n",
        width, height, g->fx, g->cx, g->fy, g->cy);
    return write_text(folder, "intrinsics.json", json)
               ?: write_text(folder, "calibration.yaml", yaml);
}

int batch_rgbd_lists(const char *folder, const char *times, const char *pairs) {
    return write_text(folder, "times.txt", times) ?: write_text(folder, "associations.txt", pairs);
}

int batch_rgbd_may_replace(const char *folder) {
    static const char *const names[] = {"intrinsics.json", "calibration.yaml", "times.txt",
                                        "associations.txt"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        int error = batch_may_replace(path, INTRINSICS_START);
        if (error || (i == 0 && g_file_test(path, G_FILE_TEST_EXISTS))) /* the others are ours */
            return error;
    }
    return 0;
}
