/*
 * Cameras on the start page: live pictures, what is said of a camera that is busy, a rig by two
 * clicks. For a machine with two cameras, such as that of tests/vm/window.sh, with this order of
 * nodes. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <string.h>
#include <unistd.h>

/* Different grey levels in the middle of a tile. */
static int tile_levels(const struct gui_program *p, const char *name) {
    struct gui_rect at = gui_find(p, name);
    struct image shot = gui_shot(p);
    gboolean seen[256] = {FALSE};
    int count = 0;
    for (int y = at.y + at.height / 4; y < at.y + at.height / 2; y++)
        for (int x = at.x + at.width / 4; x < at.x + at.width * 3 / 4; x++) {
            uint8_t level = shot.data[3 * ((size_t)y * (size_t)shot.width + (size_t)x)];
            count += !seen[level];
            seen[level] = TRUE;
        }
    picture_free(&shot);
    return count;
}

static gboolean camera_has(const struct gui_program *p, const char *camera, const char *text) {
    g_autofree char *about = gui_look(p, "state", camera);
    return about && strstr(about, text);
}

static gboolean source_is_rig(const struct gui_program *p) {
    g_autofree char *source = gui_look(p, "state", "source");
    return source && g_str_has_prefix(source, "v4l2:");
}

static void test_pictures(void) {
    struct gui_program p = {0};
    if (!g_getenv("LIVESTEREO_TEST_CAMERAS") || access("/dev/video1", R_OK) != 0) {
        g_test_skip("needs LIVESTEREO_TEST_CAMERAS and two cameras");
        return;
    }
    gui_start(&p, "--paused", GUI_SOURCE);
    gui_run_action(&p, "start");
    gui_wait_for(&p, camera_has(&p, "camera0", "320x180"));
    gui_wait_for(&p, camera_has(&p, "camera1", "320x180"));
    g_assert_cmpint(tile_levels(&p, "start.camera0"), >, 4); /* bars of colours */
    gui_click(&p, "start.look");
    gui_wait_for(&p, camera_has(&p, "camera0", "320x180"));
    gui_settle(&p);
    g_assert_cmpint(tile_levels(&p, "start.camera0"), >, 4);
    gui_click(&p, "start.camera0");
    gui_click(&p, "start.camera1");
    gui_wait_for(&p, source_is_rig(&p)); /* both were closed before */
    gui_wait_for(&p, gui_is(&p, "state", "parts", "start=0 log=0"));
    gui_run_action(&p, "start");
    gui_wait_for(&p, camera_has(&p, "camera0", "is the source on screen"));
    g_assert_true(camera_has(&p, "camera1", "is the source on screen"));
    gui_quit(&p);
}

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/cameras/pictures", test_pictures);
    return g_test_run();
}
