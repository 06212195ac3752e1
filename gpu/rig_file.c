/*
 * Reads rigs for callers: apart from open.c, which needs no library that reads YAML.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_read.h"
#include "gpu/handle.h"

#include <stddef.h>
#include <string.h>

/* A rig's fields up to rms are those of the header's struct, in its order. */
enum { RIG_BYTES = offsetof(struct rig, rms) };
_Static_assert((int)offsetof(struct livestereo_rig, reserved) == (int)RIG_BYTES &&
                   offsetof(struct livestereo_rig, R) == offsetof(struct rig, R) &&
                   offsetof(struct livestereo_rig, metric) == offsetof(struct rig, metric) &&
                   offsetof(struct livestereo_rig, rotation) == offsetof(struct rig, rotation) &&
                   offsetof(struct livestereo_camera, fx) == offsetof(struct camera, fx) &&
                   offsetof(struct livestereo_camera, distortion) ==
                       offsetof(struct camera, distortion) &&
                   offsetof(struct livestereo_camera, k) == offsetof(struct camera, k) &&
                   (int)LIVESTEREO_FISHEYE + 1 == (int)DISTORTION_COUNT,
               "one rig");

int livestereo_rig_read(struct livestereo_rig *rig, const char *const *paths, int count, int width,
                        int height, double unit) {
    AUTO(call_end) struct call call = call_begin(NULL);
    struct rig_read_options options = {.width = width, .height = height, .unit = unit};
    struct rig read;
    if (!rig || !paths || count < 1 || count > 2 || !paths[0] || !paths[count - 1])
        return refuse("a rig is read from one file or two");
    int error = rig_load(paths, count, &options, &read);
    if (!error) {
        memset(rig, 0, sizeof(*rig));
        memcpy(rig, &read, RIG_BYTES);
    }
    return error;
}
