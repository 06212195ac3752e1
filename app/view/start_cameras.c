/*
 * Live pictures of the cameras, for the start page of app/view/pages.h. Each camera has a thread of
 * its own, which opens it at its smallest size and closes it. SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/live/live.h"
#include "capture/v4l2/v4l2_camera.h"
#include "config/clock.h"
#include "config/lock.h"
#include "image/pixel_format.h"
#include "render/window.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RATE 5
#define POLL_TIMEOUT_MS 50
#define SILENCE_NS INT64_C(3000000000)

struct start_camera {
    char node[64];
    char *name, *word;
    unsigned texture;
    struct window *window;
    bool watched; /* the thread runs, or has ended by itself */
    pthread_t thread;
    atomic_bool stop;

    pthread_mutex_t lock; /* of what follows */
    struct image picture; /* RGB; its data are NULL before the first one */
    bool fresh;
    char why[512]; /* there is none */
    int error;
};

static void say(struct start_camera *c, int error, const char *why) {
    LOCKED(&c->lock);
    c->error = error;
    g_strlcpy(c->why, why, sizeof(c->why));
    c->fresh = true;
    window_wake(c->window);
}

/* Decodes a frame and hands it over. */
static void show(struct start_camera *c, const struct raw_picture *raw, struct mjpeg *mjpeg) {
    size_t bytes = (size_t)raw->width * (size_t)raw->height * 3;
    struct image picture = {g_malloc0(bytes), raw->width, raw->height, 3};
    if (pixels_decode(raw, mjpeg, &picture) == 0) {
        pthread_mutex_lock(&c->lock);
        struct image before = c->picture;
        c->picture = picture;
        c->fresh = true;
        c->why[0] = '\0';
        pthread_mutex_unlock(&c->lock);
        picture = before;
        window_wake(c->window);
    }
    g_free(picture.data);
}

/* Until it is stopped, or the camera is gone. */
static void stream(struct start_camera *c, struct v4l2_camera *camera, struct mjpeg *mjpeg) {
    g_autofree uint8_t *data = g_malloc0(camera->frame_bytes);
    int64_t shown_ns = 0, seen_ns = clock_ns();
    while (!atomic_load(&c->stop)) {
        struct pollfd polled = {camera->fd, POLLIN, 0};
        struct camera_frame frame;
        poll(&polled, 1, POLL_TIMEOUT_MS);
        int error = v4l2_camera_take(camera, data, &frame);
        if (error && error != -EAGAIN) {
            say(c, error, camera->reason);
            return;
        }
        int64_t now_ns = clock_ns();
        if (error && now_ns - seen_ns > SILENCE_NS) {
            say(c, error, "gives no pictures; plug it in again");
            seen_ns = now_ns;
        }
        if (error)
            continue;
        seen_ns = now_ns;
        if (frame.flagged || now_ns - shown_ns < CLOCK_NS_PER_S / RATE)
            continue;
        shown_ns = now_ns;
        const struct camera_mode *mode = &camera->mode;
        show(c,
             &(struct raw_picture){.fourcc = mode->fourcc,
                                   .width = mode->width,
                                   .height = mode->height,
                                   .stride = camera->stride,
                                   .data = data,
                                   .bytes = frame.bytes},
             mjpeg);
    }
}

static void *watch(void *context) {
    struct start_camera *c = context;
    const struct mode_wish smallest = {.pixels = 1, .rate = RATE};
    struct v4l2_camera camera;
    struct mjpeg *mjpeg = mjpeg_open();
    live_lower_priority();
    int error = mjpeg ? v4l2_camera_open(&camera, c->node, &smallest) : -ENOMEM;
    if (error)
        say(c, error, mjpeg ? camera.reason : "out of memory");
    if (!error) {
        stream(c, &camera, mjpeg);
        v4l2_camera_close(&camera);
    }
    mjpeg_close(&mjpeg);
    return NULL;
}

void start_cameras_list(struct start_page *page, const struct device_list *list) {
    start_cameras_end(page);
    for (int i = 0; list && i < list->count && page->camera_count < START_CAMERAS; i++) {
        const struct device *device = &list->device[i];
        struct start_camera *c = page->camera[page->camera_count++] =
            g_new0(struct start_camera, 1);
        g_strlcpy(c->node, device->node, sizeof(c->node));
        c->name = g_strdup_printf("%s  %s", device->identity.card, device->node);
        c->word = g_strdup(device_stable_name(list, device));
        pthread_mutex_init(&c->lock, NULL);
    }
}

void start_cameras_begin(struct start_page *page, struct window *window) {
    for (int i = 0; i < page->camera_count; i++) {
        struct start_camera *c = page->camera[i];
        if (c->watched)
            continue;
        c->window = window;
        atomic_store(&c->stop, false);
        c->watched = pthread_create(&c->thread, NULL, watch, c) == 0;
    }
}

void start_cameras_stop(struct start_page *page) {
    for (int i = 0; i < page->camera_count; i++)
        atomic_store(&page->camera[i]->stop, true);
    for (int i = 0; i < page->camera_count; i++) {
        struct start_camera *c = page->camera[i];
        if (c->watched)
            pthread_join(c->thread, NULL);
        c->watched = false;
    }
}

void start_cameras_end(struct start_page *page) {
    start_cameras_stop(page);
    for (int i = 0; i < page->camera_count; i++) {
        struct start_camera *c = page->camera[i];
        ui_texture_free(&c->texture);
        pthread_mutex_destroy(&c->lock);
        g_free(c->picture.data);
        g_free(c->name);
        g_free(c->word);
        g_free(c);
    }
    page->camera_count = 0;
    g_clear_pointer(&page->left_word, g_free);
}

bool start_cameras_update(struct start_page *page) {
    bool changed = false;
    for (int i = 0; i < page->camera_count; i++) {
        struct start_camera *c = page->camera[i];
        LOCKED(&c->lock);
        changed |= c->fresh;
        if (c->fresh)
            ui_texture_free(&c->texture);
        if (c->fresh && !c->why[0])
            c->texture = ui_texture_make(c->picture.data, c->picture.width, c->picture.height, 3);
        c->fresh = false;
    }
    return changed;
}

char *start_camera_describe(const struct start_page *page, int i, bool live_source) {
    struct start_camera *c = page->camera[i];
    LOCKED(&c->lock);
    if (c->error == -EBUSY && c->why[0] && live_source)
        return g_strdup("is the source on screen");
    if (c->why[0])
        return g_strdup(c->why);
    return c->picture.data ? g_strdup_printf("%dx%d", c->picture.width, c->picture.height) : NULL;
}

/* The first click names the left camera, the second one the right. Of motion there is one. */
static char *choose(struct start_page *page, const char *word, bool motion) {
    if (motion)
        return g_strconcat("v4l2:", word, NULL);
    if (!page->left_word) {
        page->left_word = g_strdup(word);
        return NULL;
    }
    g_autofree char *left = g_steal_pointer(&page->left_word);
    return strcmp(left, word) == 0 ? NULL : g_strdup_printf("v4l2:%s,%s", left, word);
}

void start_cameras_draw(struct start_page *page, struct ui *ui, bool motion, bool live_source,
                        char **chosen) {
    double line = ui_text_height(ui), all = ui_available_width(ui);
    int columns = (int)fmax(2, floor(all / (14 * line)));
    for (int i = 0; i < page->camera_count; i++) {
        struct start_camera *c = page->camera[i];
        char name[32];
        bool left = page->left_word && strcmp(page->left_word, c->word) == 0;
        g_autofree char *label = g_strconcat(left ? "L: " : "", c->name, NULL);
        g_snprintf(name, sizeof(name), "start.camera%d", i);
        if (i % columns)
            ui_same_line(ui);
        double width = all / columns - 0.7 * line;
        ui_mark_next(ui, left);
        if (ui_tile(ui, name, label, "",
                    motion ? "open this camera" : "click the left camera, then the right one",
                    c->texture, width, 0.75 * width)) {
            char *words = choose(page, c->word, motion);
            if (words)
                *chosen = words;
        }
    }
    for (int i = 0; i < page->camera_count; i++) {
        g_autofree char *about = start_camera_describe(page, i, live_source),
                        *text = g_strdup_printf("%s %s", page->camera[i]->node, about);
        if (about && !page->camera[i]->texture)
            ui_text_color(ui, ui_theme(ui)->note, text);
    }
}
