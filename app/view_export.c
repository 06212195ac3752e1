/*
 * Files that the viewer writes on a key: window, pair, disparity, points. Names carry the time
 * and never those of a file that is there. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "app/views.h"
#include "capture/picture.h"
#include "capture/ply.h"
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
    int width = f->rect_left.width, height = f->rect_left.height, error = 0;
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

static int write_points(const struct viewer *v, const char *path) {
    const struct frame *f = v->shown;
    int width = f->rect_left.width, height = f->rect_left.height;
    struct depth_geometry geometry = v->rig.geometry;
    if (!view_has_rig(v)) /* the camera's own unit: a baseline of 1, a focal length of the width */
        geometry = (struct depth_geometry){width, width, width / 2.0, height / 2.0, 1, 0, 0};
    struct ply_point *points = malloc((size_t)width * (size_t)height * sizeof *points);
    if (!points) {
        log_error(path, "out of memory");
        return -ENOMEM;
    }
    size_t count = 0;
    const struct image *left = &f->rect_left;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            if (f->disparity[at] == DISPARITY_UNKNOWN ||
                depth_point(&geometry, x, y, f->disparity[at], INFINITY, points[count].xyz) != 0)
                continue;
            for (int c = 0; c < 3; c++)
                points[count].rgb[c] =
                    left->data[at * (size_t)left->channels + (size_t)(c % left->channels)];
            count++;
        }
    int error =
        ply_write(path, points, count, view_has_rig(v) ? "metres" : "baselines, not calibrated");
    free(points);
    return error;
}

void view_export_points(struct viewer *v) {
    if (!v->shown)
        return;
    g_autofree char *base = make_base(v);
    g_autofree char *path = base ? g_strconcat(base, ".ply", NULL) : NULL;
    tell(v, path ? write_points(v, path) : -EIO, base ? base : "", ".ply");
}
