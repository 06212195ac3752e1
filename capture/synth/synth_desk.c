/*
 * Pictures of the desk by ray casting: first what each pixel of both views meets, then its colour;
 * at edges the mean of four rays. Both cameras look the same way, the right one baseline to the
 * right. See synth_desk.h.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_desk.h"

#include <stdlib.h>

#define TILE 16
#define TURN 6.2831853f

struct camera {
    struct vec at, right, down, forward; /* unit vectors */
    float focal, cx, cy;                 /* px */
};

/* What a camera sees: the surface (FACES * shape + face, or -1) and Z of each pixel; for each tile
 * the shapes that may be seen in it, one bit each. */
struct view {
    struct camera camera;
    int16_t *surface;
    float *z;
    uint64_t (*tile)[2];
};

struct desk {
    struct desk_scene scene;
    int width, height, threads, tiles; /* tiles of a row */
    float focal, baseline, min, row_offset;
    struct view view[2];
    struct image *image[2];
    int16_t *truth;
    uint8_t *mask;
    struct desk_scene later; /* shapes alone; for motion */
    struct camera later_camera;
};

/* The rig sways a little. */
static struct camera place_camera(const struct desk *desk, int view, long index) {
    float angle = TURN * (float)(index % 900) / 900;
    float yaw = 0.03f * sinf(angle), pitch = 0.31f + 0.01f * sinf(2 * angle);
    struct camera c = {.focal = desk->focal,
                       .cx = 0.5f * (float)(desk->width - 1) - (view ? desk->min : 0),
                       .cy = 0.5f * (float)(desk->height - 1) + (view ? desk->row_offset : 0)};
    c.right = vec(cosf(yaw), 0, -sinf(yaw));
    c.forward = vec(sinf(yaw) * cosf(pitch), -sinf(pitch), cosf(yaw) * cosf(pitch));
    c.down = vec(-sinf(yaw) * sinf(pitch), -cosf(pitch), -cosf(yaw) * sinf(pitch));
    c.at = vec(0.035f * sinf(angle), 0.5f + 0.01f * cosf(angle), 0.02f * sinf(2 * angle));
    c.at = vec_along(c.at, (view ? 0.5f : -0.5f) * desk->baseline, c.right);
    return c;
}

/* Its direction per Z of 1. */
static struct vec ray(const struct camera *c, float x, float y) {
    return vec_along(vec_along(c->forward, (x - c->cx) / c->focal, c->right),
                     (y - c->cy) / c->focal, c->down);
}

/* The pixel that shows p; returns its Z. */
static float project(const struct camera *c, struct vec p, float *x, float *y) {
    struct vec q = vec_sub(p, c->at);
    float z = vec_dot(q, c->forward);
    *x = c->cx + c->focal * vec_dot(q, c->right) / z;
    *y = c->cy + c->focal * vec_dot(q, c->down) / z;
    return z;
}

/* Lists the shapes of each tile by the boxes round them. */
static void list_tiles(const struct desk *desk, struct view *view) {
    int rows = (desk->height + TILE - 1) / TILE;
    for (int i = 0; i < desk->tiles * rows; i++)
        view->tile[i][0] = view->tile[i][1] = 0;
    for (int i = 0; i < desk->scene.shapes; i++) {
        const struct shape *s = &desk->scene.shape[i];
        float x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
        for (int k = 0; k < 8; k++) {
            struct vec p =
                vec(k & 1 ? s->box_low.x : s->box_high.x, k & 2 ? s->box_low.y : s->box_high.y,
                    k & 4 ? s->box_low.z : s->box_high.z);
            float x, y;
            if (project(&view->camera, p, &x, &y) < 0.05f) { /* beside or behind the camera */
                x0 = y0 = -INFINITY;
                x1 = y1 = INFINITY;
                break;
            }
            x0 = fminf(x0, x);
            y0 = fminf(y0, y);
            x1 = fmaxf(x1, x);
            y1 = fmaxf(y1, y);
        }
        int left = (int)fmaxf(x0 - 1, 0) / TILE, top = (int)fmaxf(y0 - 1, 0) / TILE;
        int right = (int)fminf(x1 + 1, (float)(desk->width - 1)) / TILE;
        int bottom = (int)fminf(y1 + 1, (float)(desk->height - 1)) / TILE;
        for (int y = top; y <= bottom && y1 > -1; y++)
            for (int x = left; x <= right && x1 > -1; x++)
                view->tile[y * desk->tiles + x][i / 64] |= 1ull << (i % 64);
    }
}

/* The nearest surface along a ray, and its Z; list has the shapes that are tried, NULL all. */
static int cast(const struct desk_scene *scene, const uint64_t *list, struct vec o, struct vec d,
                float *z) {
    int surface = -1, face;
    *z = (OUTSIDE_Z - o.z) / d.z;
    for (int word = 0; word < 2; word++)
        for (uint64_t left = list ? list[word] : ~0ull; left; left &= left - 1) {
            int i = 64 * word + __builtin_ctzll(left);
            if (i >= scene->shapes)
                break;
            float t = shape_hit(&scene->shape[i], o, d, &face);
            if (t < *z) {
                *z = t;
                surface = FACES * i + face;
            }
        }
    return surface;
}

static const uint64_t *tile_of(const struct desk *desk, const struct view *view, int x, int y) {
    return view->tile[y / TILE * desk->tiles + x / TILE];
}

static void see_row(void *context, int row) {
    struct desk *desk = context;
    struct view *view = &desk->view[row % 2];
    int y = row / 2;
    for (int x = 0; x < desk->width; x++) {
        int i = y * desk->width + x;
        view->surface[i] = (int16_t)cast(&desk->scene, tile_of(desk, view, x, y), view->camera.at,
                                         ray(&view->camera, (float)x, (float)y), &view->z[i]);
    }
}

static struct vec color_of(const struct desk *desk, const struct view *view, int surface, float x,
                           float y, float z) {
    struct vec d = ray(&view->camera, x, y);
    struct vec c = desk_scene_color(&desk->scene, surface, vec_along(view->camera.at, z, d), d,
                                    z / desk->focal);
    return vec(fminf(c.x, 1), fminf(c.y, 1), fminf(c.z, 1));
}

static bool is_edge(const struct desk *desk, const struct view *view, int x, int y) {
    int i = y * desk->width + x, here = view->surface[i];
    return (x > 0 && view->surface[i - 1] != here) ||
           (x + 1 < desk->width && view->surface[i + 1] != here) ||
           (y > 0 && view->surface[i - desk->width] != here) ||
           (y + 1 < desk->height && view->surface[i + desk->width] != here);
}

static void paint_row(void *context, int row) {
    static const float at[4][2] = {
        {-0.125f, -0.375f}, {0.375f, -0.125f}, {0.125f, 0.375f}, {-0.375f, 0.125f}};
    struct desk *desk = context;
    const struct view *view = &desk->view[row % 2];
    const struct image *image = desk->image[row % 2];
    int y = row / 2;
    uint8_t *out = image->data + (size_t)y * (size_t)image->width * (size_t)image->channels;
    for (int x = 0; x < desk->width; x++) {
        int i = y * desk->width + x;
        struct vec c = {0};
        if (is_edge(desk, view, x, y)) {
            for (int k = 0; k < 4; k++) {
                float sx = (float)x + at[k][0], sy = (float)y + at[k][1], z;
                int surface = cast(&desk->scene, tile_of(desk, view, x, y), view->camera.at,
                                   ray(&view->camera, sx, sy), &z);
                c = vec_along(c, 0.25f, color_of(desk, view, surface, sx, sy, z));
            }
        } else {
            c = color_of(desk, view, view->surface[i], (float)x, (float)y, view->z[i]);
        }
        int r = (int)(255 * sqrtf(c.x) + 0.5f), g = (int)(255 * sqrtf(c.y) + 0.5f),
            b = (int)(255 * sqrtf(c.z) + 0.5f);
        if (image->channels == 3) {
            out[3 * x] = (uint8_t)r;
            out[3 * x + 1] = (uint8_t)g;
            out[3 * x + 2] = (uint8_t)b;
        } else {
            out[x] = (uint8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
        }
    }
}

void desk_render(struct desk *desk, long index, struct image *left, struct image *right) {
    desk->image[0] = left;
    desk->image[1] = right;
    desk_scene_move_mug(&desk->scene, index);
    desk_scene_shade_mug(&desk->scene);
    for (int i = 0; i < 2; i++) {
        desk->view[i].camera = place_camera(desk, i, index);
        list_tiles(desk, &desk->view[i]);
    }
    rows_run(2 * desk->height, desk->threads, see_row, desk);
    rows_run(2 * desk->height, desk->threads, paint_row, desk);
}

/* Whether a camera sees p of this scene, at the pixel (*x, *y). */
static bool sees(const struct desk *desk, const struct desk_scene *scene,
                 const struct camera *camera, struct vec p, float *x, float *y) {
    float z = project(camera, p, x, y), nearest;
    if (!(z > 0 && *x >= 0 && *y >= 0 && *x <= (float)(desk->width - 1) &&
          *y <= (float)(desk->height - 1)))
        return false;
    cast(scene, NULL, camera->at, ray(camera, *x, *y), &nearest);
    return nearest > z * 0.9995f;
}

/* The same for the right view; where both pixels beside (x, y) show the surface, no ray is cast. */
static bool right_sees(const struct desk *desk, int surface, struct vec p) {
    const struct view *right = &desk->view[1];
    float x, y;
    project(&right->camera, p, &x, &y);
    int row = (int)lrintf(y), x0 = (int)floorf(x);
    if (x >= 0 && x0 + 1 < desk->width && row >= 0 && row < desk->height &&
        fabsf(y - (float)row) < 1e-3f) {
        const int16_t *at = right->surface + row * desk->width + x0;
        if (at[0] == surface && at[1] == surface)
            return true;
    }
    return sees(desk, &desk->scene, &right->camera, p, &x, &y);
}

static void truth_row(void *context, int y) {
    struct desk *desk = context;
    const struct view *left = &desk->view[0];
    for (int x = 0; x < desk->width; x++) {
        int i = y * desk->width + x;
        float disparity = desk->min + desk->focal * desk->baseline / left->z[i];
        struct vec p =
            vec_along(left->camera.at, left->z[i], ray(&left->camera, (float)x, (float)y));
        desk->truth[i] = (int16_t)lrintf(disparity * DISPARITY_ONE);
        desk->mask[i] = right_sees(desk, left->surface[i], p) ? 255 : 0;
    }
}

void desk_truth(struct desk *desk, int16_t *truth, uint8_t *mask) {
    desk->truth = truth;
    desk->mask = mask;
    rows_run(desk->height, desk->threads, truth_row, desk);
}

static void motion_row(void *context, int y) {
    struct desk *desk = context;
    const struct view *left = &desk->view[0];
    size_t count = (size_t)desk->width * (size_t)desk->height;
    for (int x = 0; x < desk->width; x++) {
        int i = y * desk->width + x;
        struct vec p =
            vec_along(left->camera.at, left->z[i], ray(&left->camera, (float)x, (float)y));
        if (left->surface[i] >= FACES * desk->scene.moving)
            p = desk_scene_mug_point(&desk->scene, &desk->later, p);
        float to_x, to_y;
        bool seen = sees(desk, &desk->later, &desk->later_camera, p, &to_x, &to_y);
        float u = to_x - (float)x, v = to_y - (float)y;
        bool fits = hypotf(u, v) * DISPARITY_ONE <= INT16_MAX;
        desk->truth[i] = (int16_t)(fits ? lrintf(u * DISPARITY_ONE) : DISPARITY_UNKNOWN);
        desk->truth[(size_t)i + count] =
            (int16_t)(fits ? lrintf(v * DISPARITY_ONE) : DISPARITY_UNKNOWN);
        desk->mask[i] = seen ? 255 : 0;
    }
}

void desk_motion(struct desk *desk, long index, int step, int16_t *truth, uint8_t *mask) {
    desk->truth = truth;
    desk->mask = mask;
    desk->later = desk->scene;
    desk_scene_move_mug(&desk->later, index + step);
    desk->later_camera = place_camera(desk, 0, index + step);
    rows_run(desk->height, desk->threads, motion_row, desk);
}

struct desk *desk_open(int width, int height, double min, double range, double row_offset,
                       uint32_t seed, int threads) {
    struct desk *desk = calloc(1, sizeof(*desk));
    if (!desk)
        return NULL;
    desk->width = width;
    desk->height = height;
    desk->threads = threads;
    desk->tiles = (width + TILE - 1) / TILE;
    desk->focal = (float)fmax(1.1 * sqrt((double)width * height), fmax(1.1 * height, 0.75 * width));
    desk->baseline = (float)(0.97 * (range - 1)) * DESK_NEAREST / desk->focal;
    desk->min = (float)min;
    desk->row_offset = (float)row_offset;
    size_t count = (size_t)width * (size_t)height,
           tiles = (size_t)desk->tiles * (size_t)((height + TILE - 1) / TILE);
    int error = 0;
    for (int i = 0; i < 2; i++) {
        struct view *view = &desk->view[i];
        view->surface = malloc(count * sizeof(*view->surface));
        view->z = malloc(count * sizeof(*view->z));
        view->tile = malloc(tiles * sizeof(*view->tile));
        error |= !view->surface || !view->z || !view->tile;
    }
    if (error || desk_scene_make(&desk->scene, seed, threads)) {
        desk_close(desk);
        return NULL;
    }
    return desk;
}

void desk_cameras(const struct desk *desk, double *focal, double *baseline) {
    *focal = desk->focal;
    *baseline = desk->baseline;
}

void desk_close(struct desk *desk) {
    if (!desk)
        return;
    for (int i = 0; i < 2; i++) {
        free(desk->view[i].surface);
        free(desk->view[i].z);
        free(desk->view[i].tile);
    }
    desk_scene_free(&desk->scene);
    free(desk);
}
