/*
 * The functions of app/rig_options.h. SPDX-License-Identifier: MIT
 */
#include "app/rig_options.h"

#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "config/log.h"

#include <errno.h>
#include <string.h>

double rig_unit_parse(const char *text) {
    if (!text)
        return 0;
    if (strcmp(text, "m") == 0)
        return 1;
    if (strcmp(text, "cm") == 0)
        return 1e-2;
    if (strcmp(text, "mm") == 0)
        return 1e-3;
    log_error("--unit", "%s is not one of m, cm, mm", text);
    return -1;
}

/* The rows of a rectified pair cannot be moved without maps, so there are maps for that alone. */
static int make_maps(const struct rig_options *options, struct rig_use *use, int width,
                     int height) {
    struct rectification to;
    if (!use->known) {
        rig_clear(&use->rig);
        to = (struct rectification){.width = width, .height = height, .fx = 1, .fy = 1};
        for (int v = 0; v < 2; v++) {
            use->rig.camera[v] =
                (struct camera){.width = width, .height = height, .fx = 1, .fy = 1};
            memcpy(to.rotation[v], use->rig.R, sizeof to.rotation[v]);
        }
    } else {
        int error = rectify_of_rig(&use->rig, 0, &to);
        if (error)
            return error;
        depth_geometry_of(&to, use->rig.metric, &use->geometry);
    }
    if (options->rectified || use->rig.rectified || !use->known) {
        if (options->row_offset == 0)
            return 0;
        for (int v = 0; v < 2; v++) { /* to where the pictures are already */
            struct camera *c = &use->rig.camera[v];
            *c = (struct camera){.width = to.width,
                                 .height = to.height,
                                 .fx = to.fx,
                                 .fy = to.fy,
                                 .cx = to.cx[v],
                                 .cy = to.cy};
            memset(to.rotation[v], 0, sizeof to.rotation[v]);
            to.rotation[v][0] = to.rotation[v][4] = to.rotation[v][8] = 1;
        }
    }
    return rectify_tables(&use->rig, &to, options->row_offset, use->maps);
}

int rig_use_open(const struct rig_options *options, int width, int height, int channels,
                 struct rig_use *use) {
    struct rig_read_options how = {.width = width, .height = height, .color = channels == 3};
    *use = (struct rig_use){0};
    how.unit = rig_unit_parse(options->unit);
    if (how.unit < 0)
        return EXIT_USAGE;
    if (options->files && options->files[0]) {
        int count = (int)g_strv_length(options->files);
        if (rig_load((const char *const *)options->files, count, &how, &use->rig))
            return EXIT_CALIBRATION;
        use->known = 1;
    } else if (options->row_offset == 0) {
        return EXIT_DONE;
    }
    int error = make_maps(options, use, width, height);
    return error == 0 ? EXIT_DONE : error == -ENOMEM ? EXIT_RUN_FAILED : EXIT_CALIBRATION;
}

const struct rectify_map *rig_use_maps(const struct rig_use *use) {
    return use->maps[0].point ? use->maps : NULL;
}

int rig_use_need_metres(const struct rig_use *use) {
    if (use->known && use->geometry.metric)
        return EXIT_DONE;
    if (use->known)
        log_error("--calib",
                  "the calibration does not say in which unit its baseline is; add --unit mm (or "
                  "cm, m)");
    else
        log_error("depth", "needs the cameras' calibration: --calib FILE");
    return EXIT_CALIBRATION;
}

void rig_use_close(struct rig_use *use) {
    rectify_free(use->maps);
}

void rig_options_free(struct rig_options *options) {
    g_strfreev(options->files);
    g_free(options->unit);
}
