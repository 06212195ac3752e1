/*
 * Pictures and points of app/view/export.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/export.h"

#include "app/save/points.h"
#include "app/save/visualize.h"
#include "base/log.h"
#include "image/picture.h"

#include <errno.h>
#include <unistd.h>

enum ending { WINDOW, LEFT, RIGHT, DISP16, DISP_PFM, FLOW16, FLOW, COLOR, POINTS };
/* By these, then those of videos. */
static const char *const endings[] = {".png",      "-left.png",   "-right.png", "-disp16.png",
                                      "-disp.pfm", "-flow16.png", ".flo",       "-color.png",
                                      ".ply",      ".mp4",        ".webm"};

static bool is_taken(const char *base) {
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

char *export_base(const char *folder) {
    if (!folder)
        folder = g_get_user_special_dir(G_USER_DIRECTORY_PICTURES);
    if (!folder)
        folder = g_get_home_dir();
    g_autofree char *whole = g_canonicalize_filename(folder, NULL);
    folder = whole;
    if (g_mkdir_with_parents(folder, 0777) != 0)
        return log_fail(NULL, folder, "cannot be made: %s; choose a folder with -o",
                        g_strerror(errno));
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

void export_report(struct screen *screen, int error, const char *base, const char *what,
                   const char *how) {
    g_autofree char *text =
        error ? g_strdup_printf("%s could not be saved; key m shows why", what)
              : g_strdup_printf("Saved %s%s%s%s", base, what, *how ? ", " : "", how);
    if (error) {
        screen_notify_error(screen, text);
    } else {
        screen_notify_saved(screen, base, text);
        log_info(base, "saved %s", what);
    }
}

void export_window(const char *folder, struct screen *screen) {
    g_autofree char *base = export_base(folder);
    g_autofree char *path = base ? g_strconcat(base, endings[WINDOW], NULL) : NULL;
    int error = path ? visualize_write(path, window_read(screen->window)) : -EIO;
    export_report(screen, error, base, endings[WINDOW], "");
}

static bool is_written(const struct frame *frame, enum ending ending) {
    bool motion = frame->params->mode == MODE_MOTION;
    bool of_motion = ending == FLOW16 || ending == FLOW,
         of_stereo = ending == DISP16 || ending == DISP_PFM;
    if (ending == DISP16 &&
        !disp16_holds(frame->params->min_disparity, frame->params->disparity_range))
        return false;
    return motion ? !of_stereo : !of_motion;
}

/* Disparity, motion or their colours. 0 or -errno (logged). */
static int write_map(const char *path, const struct frame *frame, const struct draw_settings *seen,
                     enum ending ending) {
    if (ending != COLOR)
        return map_write(path, frame);
    return visualize_write(
        path, visualize_disparity_in(frame, seen->min, seen->max, (enum colormap)seen->colormap));
}

void export_pair(const char *folder, const struct frame *frame, const struct draw_settings *seen,
                 const char *how, struct screen *screen) {
    g_autofree char *base = export_base(folder);
    int error = 0;
    if (!base) {
        export_report(screen, -EIO, "", "the pair", "");
        return;
    }
    for (int i = LEFT; i <= COLOR && !error; i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (!is_written(frame, (enum ending)i))
            continue;
        if (i == LEFT || i == RIGHT)
            error = picture_write(path, i == LEFT ? &frame->rect_left : &frame->rect_right);
        else
            error = write_map(path, frame, seen, (enum ending)i);
    }
    export_report(screen, error, base,
                  frame->params->mode == MODE_MOTION ? "-*.png and .flo" : "-*.png and .pfm", how);
}

void export_points(const char *folder, const struct frame *frame, const struct rig_use *rig,
                   const char *how, struct screen *screen) {
    g_autofree char *base = export_base(folder);
    g_autofree char *path = base ? g_strconcat(base, endings[POINTS], NULL) : NULL;
    long far = 0;
    int error = path ? points_write(path, frame, &rig->geometry, &far) : -EIO;
    export_report(screen, error, base, endings[POINTS], how);
}
