/*
 * Files that the viewer writes on a key: window, pair, disparity, points. Names carry the time
 * and never those of a file that is there. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "app/views.h"
#include "capture/picture.h"
#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const endings[] = {".png",      "-left.png",  "-right.png", "-disp16.png",
                                      "-disp.pfm", "-color.png", ".ply"};

static bool taken(const char *base) {
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* FOLDER/livestereo-20260131-142530, with -2 and so on when that is in use. g_free it; NULL when
 * the folder cannot be made. */
static char *make_base(const struct viewer *v) {
    const char *folder = v->options->output;
    if (!folder)
        folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES);
    if (!folder)
        folder = ".";
    if (g_mkdir_with_parents(folder, 0777) != 0) {
        log_error(folder, "cannot be made: %s; choose a folder with -o", g_strerror(errno));
        return NULL;
    }
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *time = g_date_time_format(now, "livestereo-%Y%m%d-%H%M%S");
    char *base = g_build_filename(folder, time, NULL);
    for (int n = 2; taken(base); n++) {
        g_free(base);
        g_autofree char *name = g_strdup_printf("%s-%d", time, n);
        base = g_build_filename(folder, name, NULL);
    }
    return base;
}

static void tell(struct viewer *v, int error, const char *base, const char *what) {
    if (error) {
        view_say(v, "%s could not be saved; see the terminal", what);
    } else {
        view_say(v, "saved %s%s", base, what);
        log_info(base, "saved %s", what);
    }
}

void view_export_window(struct viewer *v) {
    g_autofree char *base = make_base(v);
    struct image picture;
    int error = base ? window_read(v->window, &picture) : -EIO;
    if (error == 0) {
        g_autofree char *path = g_strconcat(base, ".png", NULL);
        error = picture_write(path, &picture);
        picture_free(&picture);
    }
    tell(v, error, base ? base : "", ".png");
}

void view_export_pair(struct viewer *v) {
    if (!v->shown)
        return;
    const struct frame *f = v->shown;
    g_autofree char *base = make_base(v);
    if (!base) {
        tell(v, -EIO, "", "the pair");
        return;
    }
    int width = f->left.width, height = f->left.height, error = 0;
    char *path[7];
    for (int i = 1; i <= 5; i++)
        path[i] = g_strconcat(base, endings[i], NULL);
    struct image color;
    error |= picture_write(path[1], &f->rect_left);
    error |= picture_write(path[2], &f->rect_right);
    error |= picture_write_disp16(path[3], f->disparity, width, height);
    error |= picture_write_pfm(path[4], f->disparity, width, height);
    if (view_disparity(f, &color) == 0) {
        error |= picture_write(path[5], &color);
        picture_free(&color);
    } else {
        error = -ENOMEM;
    }
    for (int i = 1; i <= 5; i++)
        g_free(path[i]);
    tell(v, error, base, "-*.png and .pfm");
}

/* ---- points */

struct vertex {
    float x, y, z;
    uint8_t color[3];
} __attribute__((packed));

static bool point_of(const struct viewer *v, const struct draw_rig *rig, int x, int y,
                     struct vertex *out) {
    const struct frame *f = v->shown;
    size_t at = (size_t)y * (size_t)f->left.width + (size_t)x;
    double px = f->disparity[at] / (double)DISPARITY_ONE + rig->offset_px;
    if (f->disparity[at] == DISPARITY_UNKNOWN || px <= 0)
        return false;
    double z = rig->focal_px * rig->baseline_m / px;
    out->x = (float)((x - rig->center_x) * z / rig->focal_px);
    out->y = (float)((y - rig->center_y) * z / rig->focal_px);
    out->z = (float)z;
    const struct image *left = &f->rect_left;
    for (int c = 0; c < 3; c++)
        out->color[c] = left->data[at * (size_t)left->channels + (size_t)(c % left->channels)];
    return true;
}

static int write_points(const struct viewer *v, const char *path) {
    const struct frame *f = v->shown;
    struct draw_rig rig = v->draw_settings.rig;
    bool metric = view_has_rig(v);
    if (!metric)
        rig = (struct draw_rig){f->left.width, 1, 0, f->left.width / 2.0, f->left.height / 2.0};
    size_t pixels = (size_t)f->left.width * (size_t)f->left.height, count = 0;
    struct vertex *points = malloc(pixels * sizeof *points);
    FILE *file = points ? fopen(path, "wbx") : NULL;
    if (!file) {
        log_error(path, "%s", points ? strerror(errno) : "out of memory");
        free(points);
        return -EIO;
    }
    for (int y = 0; y < f->left.height; y++)
        for (int x = 0; x < f->left.width; x++)
            count += point_of(v, &rig, x, y, &points[count]);
    fprintf(file,
            "ply\nformat binary_little_endian 1.0\n"
            "comment axes: x right, y down, z forward from the left camera (as OpenCV and ROS)\n"
            "comment unit: %s\n"
            "element vertex %zu\nproperty float x\nproperty float y\nproperty float z\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n",
            metric ? "m" : "baseline, with a focal length of the picture's width (no calibration)",
            count);
    bool good = fwrite(points, sizeof *points, count, file) == count;
    good &= fclose(file) == 0;
    free(points);
    if (!good) {
        log_error(path, "could not be written: %s", strerror(errno));
        remove(path);
    }
    return good ? 0 : -EIO;
}

void view_export_points(struct viewer *v) {
    if (!v->shown)
        return;
    g_autofree char *base = make_base(v);
    g_autofree char *path = base ? g_strconcat(base, ".ply", NULL) : NULL;
    tell(v, path ? write_points(v, path) : -EIO, base ? base : "", ".ply");
}
