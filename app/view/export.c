/*
 * The functions of app/view/export.h. SPDX-License-Identifier: MIT
 */
#include "app/view/export.h"

#include "app/visualize.h"
#include "config/log.h"
#include "image/picture.h"
#include "image/ply.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum ending { WINDOW, LEFT, RIGHT, DISP16, DISP_PFM, COLOR, POINTS, ENDINGS };
static const char *const endings[ENDINGS] = {
    [WINDOW] = ".png",        [LEFT] = "-left.png",     [RIGHT] = "-right.png",
    [DISP16] = "-disp16.png", [DISP_PFM] = "-disp.pfm", [COLOR] = "-color.png",
    [POINTS] = ".ply",
};

static bool is_taken(const char *base) {
    for (int i = 0; i < ENDINGS; i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* FOLDER/livestereo-20260131-142530, with -2 and so on when that is taken. g_free it; NULL when the
 * folder cannot be made. */
static char *make_base(const char *folder) {
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
    for (int n = 2; is_taken(base); n++) {
        g_free(base);
        g_autofree char *name = g_strdup_printf("%s-%d", time, n);
        base = g_build_filename(folder, name, NULL);
    }
    return base;
}

static void report(struct screen *screen, int error, const char *base, const char *what) {
    if (error) {
        screen_notify(screen, "%s could not be saved; see the terminal", what);
    } else {
        screen_notify(screen, "saved %s%s", base, what);
        log_info(base, "saved %s", what);
    }
}

void export_window(const char *folder, struct screen *screen) {
    g_autofree char *base = make_base(folder);
    struct image picture;
    int error = base ? window_read(screen->window, &picture) : -EIO;
    if (error == 0) {
        g_autofree char *path = g_strconcat(base, endings[WINDOW], NULL);
        error = picture_write(path, &picture);
        picture_free(&picture);
    }
    report(screen, error, base, endings[WINDOW]);
}

/* 0 or -errno (logged). */
static int write_disparity(const char *path, const struct frame *frame, enum ending ending) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    if (ending == DISP16)
        return picture_write_disp16(path, frame->disparity, width, height);
    if (ending == DISP_PFM)
        return picture_write_pfm(path, frame->disparity, width, height);
    struct image color;
    int error = visualize_disparity(frame, &color);
    if (error == 0) {
        error = picture_write(path, &color);
        picture_free(&color);
    }
    return error;
}

void export_pair(const char *folder, const struct frame *frame, struct screen *screen) {
    g_autofree char *base = make_base(folder);
    int error = 0;
    if (!base) {
        report(screen, -EIO, "", "the pair");
        return;
    }
    for (int i = LEFT; i <= COLOR; i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (i == LEFT || i == RIGHT)
            error |= picture_write(path, i == LEFT ? &frame->rect_left : &frame->rect_right);
        else
            error |= write_disparity(path, frame, (enum ending)i);
    }
    report(screen, error, base, "-*.png and .pfm");
}

/* ---- points */

/* The rig's geometry, or one in baselines with the width as focal length. */
static struct depth_geometry points_geometry(const struct rig_use *rig, int width, int height) {
    if (rig_use_is_metric(rig))
        return rig->geometry;
    return (struct depth_geometry){
        .fx = width, .fy = width, .cx = width / 2.0, .cy = height / 2.0, .baseline = 1};
}

static int write_points(const char *path, const struct frame *frame, const struct rig_use *rig) {
    const struct image *left = &frame->rect_left;
    struct depth_geometry geometry = points_geometry(rig, left->width, left->height);
    size_t pixels = (size_t)left->width * (size_t)left->height, count = 0;
    struct ply_point *points = malloc(pixels * sizeof(*points));
    if (!points) {
        log_error(path, "out of memory");
        return -ENOMEM;
    }
    for (size_t i = 0; i < pixels; i++) {
        int x = (int)(i % (size_t)left->width), y = (int)(i / (size_t)left->width);
        struct ply_point *point = &points[count];
        if (frame->disparity[i] == DISPARITY_UNKNOWN ||
            depth_point(&geometry, x, y, frame->disparity[i], INFINITY, point->xyz) != 0)
            continue;
        for (int c = 0; c < 3; c++)
            point->rgb[c] = left->data[i * (size_t)left->channels + (size_t)(c % left->channels)];
        count++;
    }
    const char *unit = rig_use_is_metric(rig) ? "metres" : "baselines, not calibrated";
    int error = ply_write(path, points, count, unit);
    free(points);
    return error;
}

void export_points(const char *folder, const struct frame *frame, const struct rig_use *rig,
                   struct screen *screen) {
    g_autofree char *base = make_base(folder);
    g_autofree char *path = base ? g_strconcat(base, endings[POINTS], NULL) : NULL;
    report(screen, path ? write_points(path, frame, rig) : -EIO, base, endings[POINTS]);
}
