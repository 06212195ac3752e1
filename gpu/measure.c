/*
 * Depth and points of a disparity map, without a handle. SPDX-License-Identifier: MIT
 */
#include "calibration/depth.h"
#include "gpu/handle.h"

#include <math.h>

static const void *row_of(const struct livestereo_image *image, int y) {
    return (const char *)image->data + y * image->row_bytes;
}

static void depth_row(const struct depth_geometry *g, const int16_t *disparity, void *depth,
                      int width, bool in_metres) {
    if (in_metres)
        depth_map_metres(g, disparity, width, 1, depth);
    else
        depth_map_16(g, disparity, width, 1, 1000, depth);
}

/* The caller's geometry, which must be metric, and a disparity map. */
static int check_measured(const struct livestereo_geometry *geometry,
                          const struct livestereo_image *disparity, struct depth_geometry *g) {
    if (!geometry)
        return refuse("there is no geometry");
    int error = library_geometry(g, geometry);
    if (!error && !disparity)
        error = refuse("disparity: there is no image");
    if (!error && (disparity->width < 1 || disparity->height < 1))
        error = refuse("disparity: no map has %dx%d px", disparity->width, disparity->height);
    if (!error)
        error = library_check_image("disparity", disparity, disparity->width, disparity->height,
                                    LIVESTEREO_DISP16);
    return error ? error : library_need_metres(g);
}

int livestereo_depth(const struct livestereo_geometry *geometry,
                     const struct livestereo_image *disparity,
                     const struct livestereo_image *depth) {
    AUTO(call_end) struct call call = call_begin(NULL);
    struct depth_geometry g;
    bool in_metres = depth && depth->format == LIVESTEREO_M32F;
    int error = check_measured(geometry, disparity, &g);
    if (!error)
        error = library_check_image("depth", depth, disparity->width, disparity->height,
                                    in_metres ? LIVESTEREO_M32F : LIVESTEREO_MM16);
    for (int y = 0; !error && depth && y < disparity->height; y++)
        depth_row(&g, row_of(disparity, y), (char *)depth->data + y * depth->row_bytes,
                  disparity->width, in_metres);
    return error;
}

static void color_of(const struct livestereo_image *color, int x, int y, float rgb[3]) {
    const uint8_t *row = color ? row_of(color, y) : NULL;
    int channels = color && color->format == LIVESTEREO_RGB8 ? 3 : 1;
    for (int c = 0; c < 3; c++)
        rgb[c] = row ? row[x * channels + c % channels] : 255;
}

int livestereo_points(const struct livestereo_geometry *geometry,
                      const struct livestereo_image *disparity,
                      const struct livestereo_image *color, double farthest, float *xyzrgb,
                      size_t max, size_t *count) {
    AUTO(call_end) struct call call = call_begin(NULL);
    struct depth_geometry g;
    bool grey = color && color->format == LIVESTEREO_GRAY8;
    int error = check_measured(geometry, disparity, &g);
    if (!error && color)
        error = library_check_image("color", color, disparity->width, disparity->height,
                                    grey ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8);
    if (!error && (!xyzrgb || !count || !(farthest >= 0)))
        error = refuse("points need a place to put them, and a distance of 0 or more");
    if (!error)
        *count = 0;
    for (int y = 0; !error && y < disparity->height; y++) {
        const int16_t *row = row_of(disparity, y);
        for (int x = 0; x < disparity->width && *count < max; x++) {
            float *point = xyzrgb + 6 * *count;
            if (depth_point(&g, x, y, row[x], farthest > 0 ? farthest : INFINITY, point))
                continue;
            color_of(color, x, y, point + 3);
            ++*count;
        }
    }
    return error;
}
