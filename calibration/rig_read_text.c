/*
 * Rig files that are not YAML: KITTI's "P0: numbers" lines (and DrivingStereo's), Middlebury's
 * "cam0=[...]" lines and ZED's key file. Numbers are read with '.' whatever the
 * locale. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_private.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Start of the value after "KEY SEPARATOR" at the beginning of a line of text, or NULL. */
static const char *value_of(const char *text, const char *key, char separator) {
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        const char *p = line + length;
        if (strncmp(line, key, length) == 0 && *(p += strspn(p, " \t")) == separator)
            return p + 1;
    }
    return NULL;
}

/* Reads count numbers parted by blanks, brackets, commas and semicolons on one line. Returns
 * how many. */
static int numbers(const char *p, double *out, int count) {
    int got = 0;
    while (p && got < count) {
        p += strspn(p, " \t[],;");
        char *end;
        double x = number_read(p, &end);
        if (end == p || *p == '\n' || *p == '\r')
            break;
        out[got++] = x;
        p = end;
    }
    return got;
}

static int key_numbers(const char *text, const char *key, char separator, double *out, int count) {
    return numbers(value_of(text, key, separator), out, count) == count;
}

/* The size of both cameras; what: its name in a refusal. */
static int set_size(struct rig_reading *in, const char *what, const double size[2],
                    struct rig *rig) {
    return rig_take_size(in, 0, what, size, &rig->camera[0])
               ?: rig_take_size(in, 0, what, size, &rig->camera[1]);
}

/* ---- KITTI */

/* The projections of two cameras, and their size; the last row is DrivingStereo's. */
static const struct pair_keys {
    const char *projection[2], *size;
    int color;
} kitti_pairs[] = {{{"P0", "P1"}, NULL, 0},
                   {{"P2", "P3"}, NULL, 1},
                   {{"P_rect_00", "P_rect_01"}, "S_rect_00", 0},
                   {{"P_rect_02", "P_rect_03"}, "S_rect_02", 1},
                   {{"P_rect_101", "P_rect_103"}, "S_rect_101", 1}};

bool rig_is_kitti(const char *text) {
    double p[12];
    for (size_t i = 0; i < 2 * sizeof kitti_pairs / sizeof kitti_pairs[0]; i++)
        if (key_numbers(text, kitti_pairs[i / 2].projection[i % 2], ':', p, 12))
            return true;
    return false;
}

int rig_read_kitti(struct rig_reading *in, const char *text, struct rig *rig) {
    const struct pair_keys *keys = NULL;
    double p[2][12], size[2];
    for (size_t i = 0; i < sizeof kitti_pairs / sizeof kitti_pairs[0]; i++)
        if (value_of(text, kitti_pairs[i].projection[0], ':') &&
            (!keys ||
             (kitti_pairs[i].color == in->options.color && keys->color != in->options.color)))
            keys = &kitti_pairs[i]; /* the first, or the first of this kind */
    if (!keys)
        return rig_refuse(in, 0, "P0, P2: twelve numbers expected");
    for (int v = 0; v < 2; v++)
        if (!key_numbers(text, keys->projection[v], ':', p[v], 12))
            return rig_refuse(in, 0, "%s: twelve numbers expected", keys->projection[v]);
    for (int v = 0; v < 2; v++)
        if (!matrix_is_projection(p[v], 4))
            return rig_refuse(in, 0, "%s: is not [fx 0 cx ..; 0 fy cy ..; 0 0 1 ..]",
                              keys->projection[v]);
    if (!(p[0][0] > 0 && p[0][5] > 0))
        return rig_refuse(in, 0, "%s: focal length %g", keys->projection[0], p[0][0]);
    if (keys->size && key_numbers(text, keys->size, ':', size, 2) &&
        set_size(in, "S_rect", size, rig) != 0)
        return -EBADMSG;
    for (int i = 0; i < 7; i += i == 0 ? 5 : 1) /* fx, fy, cy */
        if (!(fabs(p[0][i] - p[1][i]) <= 1e-3 * p[0][0]))
            return rig_refuse(in, 0, "%s, %s: focal lengths and rows differ", keys->projection[0],
                              keys->projection[1]);
    /* the fourth column is K t; its last number, a shift along the axis of some mm, moves x
     * too */
    double shift[2];
    for (int v = 0; v < 2; v++)
        shift[v] = (p[v][3] - p[v][2] * p[v][11]) / p[v][0];
    rig_make_rectified(rig, p[0][0], p[0][5], p[0][2], p[1][2], p[0][6], shift[0] - shift[1]);
    in->unit = 1;
    return 0;
}

/* ---- Middlebury */

bool rig_is_middlebury(const char *text) {
    return (value_of(text, "cam0", '=') && value_of(text, "cam1", '=')) ||
           (value_of(text, "focal_px", '=') && !value_of(text, "fx", '='));
}

int rig_read_middlebury(struct rig_reading *in, const char *text, struct rig *rig) {
    double left[9] = {0}, right[9] = {0}, baseline = 0, doffs = 0, size[2] = {0, 0};
    if (value_of(text, "cam0", '=')) {
        if (!key_numbers(text, "cam0", '=', left, 9) || !key_numbers(text, "cam1", '=', right, 9))
            return rig_refuse(in, 0, "cam0, cam1: nine numbers expected");
        doffs = right[2] - left[2];
    } else { /* one number a line, as small copies of the sets carry it */
        if (!key_numbers(text, "focal_px", '=', &left[0], 1))
            return rig_refuse(in, 0, "focal_px: a number expected");
        left[4] = left[0];
        if (!key_numbers(text, "cx_left", '=', &left[2], 1) &&
            !key_numbers(text, "cx", '=', &left[2], 1))
            return rig_refuse(in, 0, "cx: a number expected");
        if (!key_numbers(text, "cy", '=', &left[5], 1))
            return rig_refuse(in, 0, "cy: a number expected");
    }
    if (value_of(text, "doffs", '=') && !key_numbers(text, "doffs", '=', &doffs, 1))
        return rig_refuse(in, 0, "doffs: a number expected");
    in->unit = key_numbers(text, "baseline_m", '=', &baseline, 1) ? 1 : 1e-3;
    if (in->unit < 1 && !key_numbers(text, "baseline", '=', &baseline, 1) &&
        !key_numbers(text, "baseline_mm", '=', &baseline, 1))
        return rig_refuse(in, 0, "baseline: a number (mm) expected");
    if (key_numbers(text, "width", '=', &size[0], 1) &&
        key_numbers(text, "height", '=', &size[1], 1) &&
        set_size(in, "width, height", size, rig) != 0)
        return -EBADMSG;
    rig_make_rectified(rig, left[0], left[4], left[2], left[2] + doffs, left[5], baseline);
    return 0;
}

/* ---- ZED */

bool rig_is_zed(const char *text) {
    return strstr(text, "[LEFT_CAM_") && strstr(text, "[RIGHT_CAM_");
}

struct zed_size {
    const char *name;
    int width, height;
};

static const struct zed_size zed_sizes[] = {
    {"HD", 1280, 720},       {"FHD", 1920, 1080}, {"2K", 2208, 1242},      {"VGA", 672, 376},
    {"FHD1200", 1920, 1200}, {"SVGA", 960, 600},  {"QHDPLUS", 3200, 1800}, {"4K", 3840, 2160}};

/* The last "KEY = number" between "[GROUP]" and the next group; 0 where there is none. */
static int zed_number(const char *text, const char *group, const char *key, double *out) {
    char head[64];
    int found = 0;
    snprintf(head, sizeof head, "[%s]", group);
    const char *at = strstr(text, head), *end = at ? strchr(at + 1, '[') : NULL;
    while ((at = value_of(at, key, '=')) && (!end || at < end))
        found |= numbers(at, out, 1);
    return found;
}

static int zed_camera(struct rig_reading *in, const char *text, const char *side,
                      const struct zed_size *size, struct camera *c) {
    char group[64];
    snprintf(group, sizeof group, "%s_CAM_%s", side, size->name);
    static const char *const lens[5] = {"k1", "k2", "p1", "p2", "k3"};
    *c = (struct camera){
        .width = size->width, .height = size->height, .distortion = DISTORTION_RADTAN};
    for (int i = 0; i < 5; i++)
        zed_number(text, group, lens[i], &c->k[i]); /* older files leave out what is 0 */
    if (!zed_number(text, group, "fx", &c->fx) || !zed_number(text, group, "fy", &c->fy) ||
        !zed_number(text, group, "cx", &c->cx) || !zed_number(text, group, "cy", &c->cy))
        return rig_refuse(in, 0, "[%s]: fx, fy, cx, cy expected", group);
    return 0;
}

/* The number of "NAME_<size>", or of "NAME" in older files, or 0. */
static double zed_stereo(const char *text, const char *name, const struct zed_size *size) {
    char key[32];
    double x = 0;
    snprintf(key, sizeof key, "%s_%s", name, size->name);
    if (!zed_number(text, "STEREO", key, &x))
        zed_number(text, "STEREO", name, &x);
    return x;
}

static int zed_fill(struct rig_reading *in, const char *text, const struct zed_size *size,
                    struct rig *rig) {
    double baseline;
    int error = zed_camera(in, text, "LEFT", size, &rig->camera[0])
                    ?: zed_camera(in, text, "RIGHT", size, &rig->camera[1]);
    if (error)
        return error;
    if (!zed_number(text, "STEREO", "Baseline", &baseline) &&
        !zed_number(text, "STEREO", "BaseLine", &baseline))
        return rig_refuse(in, 0, "[STEREO]: Baseline (mm) expected");
    double turn[3] = {zed_stereo(text, "RX", size), zed_stereo(text, "CV", size),
                      zed_stereo(text, "RZ", size)};
    for (int i = 0; i < 3; i++)
        if (!(fabs(turn[i]) <= M_PI))
            return rig_refuse(in, 0, "[STEREO]: RX, CV, RZ: %g is no angle in radians", turn[i]);
    rotation_from_vector(turn, rig->R);
    /* the file says where the right camera is; T, in mm here, goes the other way */
    rig->T[0] = -baseline;
    rig->T[1] = -zed_stereo(text, "TY", size);
    rig->T[2] = -zed_stereo(text, "TZ", size);
    in->unit = 1e-3;
    return 0;
}

int rig_read_zed(struct rig_reading *in, const char *text, struct rig *rig) {
    const struct zed_size *size = NULL;
    /* the size asked for, else the one whose shape fits, else the first that is there */
    for (int pass = 0; pass < 3 && !size; pass++)
        for (size_t i = 0; i < sizeof zed_sizes / sizeof zed_sizes[0] && !size; i++) {
            char group[64];
            const struct zed_size *s = &zed_sizes[i];
            snprintf(group, sizeof group, "[LEFT_CAM_%s]", s->name);
            int w = in->options.width, h = in->options.height;
            if (strstr(text, group) &&
                (pass == 2 || (pass == 0 && w == s->width && h == s->height) ||
                 (pass == 1 && w > 0 && (long)w * s->height == (long)h * s->width)))
                size = s;
        }
    return size ? zed_fill(in, text, size, rig)
                : rig_refuse(in, 0, "holds no size that is known (LEFT_CAM_HD, _2K, _FHD, _VGA)");
}
