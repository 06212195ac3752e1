/*
 * pipeline_open() of app/commands.h and mask_use() of app/mask.h. SPDX-License-Identifier: MIT
 */
#include "app/mask.h"

#include "config/log.h"

#include <errno.h>
#include <stdlib.h>

/* Whether the labels fit pictures so wide; if not, the exit code after a log line. */
static int check_labels(const struct params *params, const char *name, int width) {
    int min = params->min_disparity, max = min + params->disparity_range - 1;
    if (params->mode == MODE_MOTION) {
        if (params_labels(params) <= MOTION_LABELS)
            return GO_ON;
        log_error(name,
                  "motion_u_range %d times motion_v_range %d is %d labels, more than the %d "
                  "possible; use fewer, and motion_levels for larger motions",
                  params->motion_u_range, params->motion_v_range, params_labels(params),
                  MOTION_LABELS);
        return EXIT_USAGE;
    }
    if (params->disparity_range >= width) {
        log_error(name,
                  "disparity_range %d is not below the width of %d; try --set disparity_range=%d",
                  params->disparity_range, width, MAX(2, width / 4));
        return EXIT_USAGE;
    }
    if (min >= width || max <= -width) {
        log_error(name,
                  "disparities from %d to %d all lie outside a picture %d wide; try --set "
                  "min_disparity=0",
                  min, max, width);
        return EXIT_USAGE;
    }
    return GO_ON;
}

struct stereo *pipeline_open(const struct params *params, const char *name, int width, int height,
                             int channels, const struct rectify_map *maps, int *code) {
    const struct rectify_map source = {.width = width, .height = height};
    const struct rectify_map *computed = maps ? &maps[0] : &source;
    if (width < 2 || height < 2) {
        log_error(name, "pictures of %dx%d are too small: at least 2x2 is needed", width, height);
        *code = EXIT_SOURCE;
        return NULL;
    }
    const char *conflict = params_conflict(params);
    if (conflict)
        log_error(name, "%s", conflict);
    int error = conflict ? EXIT_USAGE : check_labels(params, name, computed->width);
    if (error != GO_ON) {
        *code = error;
        return NULL;
    }
    struct stereo *stereo = stereo_open(params, width, height, channels, maps, &error);
    if (!stereo)
        *code = error == -ENODEV ? EXIT_NO_GPU : error == -ENOSPC ? EXIT_USAGE : EXIT_RUN_FAILED;
    else
        log_info(name, "%dx%d, %d %s, %s", computed->width, computed->height, params_labels(params),
                 params->mode == MODE_MOTION ? "motions" : "disparities", stereo_backend(stereo));
    return stereo;
}

int mask_use(const char *path, const struct params *params, int width, int height,
             struct stereo *stereo, uint8_t **mask) {
    *mask = NULL;
    if (!path)
        return EXIT_DONE;
    if (params->mode != MODE_MOTION) {
        log_error("--mask", "needs mode=motion; preset flow has it");
        return EXIT_USAGE;
    }
    int code = mask_read(path, width, height, mask);
    if (code == EXIT_DONE && stereo_set_mask(stereo, *mask) != 0) {
        free(*mask);
        *mask = NULL;
        code = EXIT_RUN_FAILED;
    }
    return code;
}
