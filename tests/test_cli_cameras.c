/*
 * The program on recordings, as its users meet it: inputs of batch, cameras that hang upside down
 * or were exchanged, every disparity of run those of batch, --out. Runs the binary that
 * LIVESTEREO_BIN names (default build/livestereo). SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "tests/cli.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#define SMALL "--set disparity_range=8 --set bp_levels=2 --set threads=1 --set backend=cpu"
#define SCENE "synth:width=64,height=48,range=8,frames=6"

/* Runs the program in the folder; its standard output, g_free it. */
G_GNUC_PRINTF(2, 3)
static char *run(int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *words = g_strdup_vprintf(format, args);
    va_end(args);
    const char *named = g_getenv("LIVESTEREO_BIN");
    g_autofree char *binary = g_canonicalize_filename(named ? named : "build/livestereo", NULL);
    g_autofree char *line = g_strdup_printf("%s %s", binary, words);
    g_auto(GStrv) argv = NULL;
    g_autoptr(GError) error = NULL;
    char *out = NULL;
    g_autofree char *err = NULL;
    int status = 0;
    g_assert_true(g_shell_parse_argv(line, NULL, &argv, &error));
    g_spawn_sync(folder, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &out, &err, &status, &error);
    g_assert_no_error(error);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
        g_error("%s\nstatus %d:\n%s", words, status, err);
    return out;
}

#define must(...) g_free(run(0, __VA_ARGS__))

static char *read_file(const char *name, gsize *length) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *bytes = NULL;
    if (!g_file_get_contents(path, &bytes, length, NULL))
        g_error("%s is missing", path);
    return bytes;
}

static gboolean same(const char *a, const char *b) {
    gsize length[2];
    g_autofree char *x = read_file(a, &length[0]), *y = read_file(b, &length[1]);
    return length[0] == length[1] && memcmp(x, y, length[0]) == 0;
}

static void same_files(const char *a, const char *b) {
    if (!same(a, b))
        g_error("%s and %s differ", a, b);
}

static void same_all(const char *format_a, const char *format_b, int count) {
    for (int i = 0; i < count; i++) {
        g_autofree char *number = g_strdup_printf("%06d", i);
        g_autofree char *a = g_strdup_printf("%s/%s_disp16.png", format_a, number);
        g_autofree char *b = g_strdup_printf("%s/%s_disp16.png", format_b, number);
        same_files(a, b);
    }
}

/* A recording of the scene, and what is computed of it: as of the scene itself, by run as by
 * batch, alone as beside others. */
CLI_TEST("/cli-cameras/recording", test_recording) {
    must("record " SCENE " -o a.mkv");
    must("record " SCENE ",seed=7 -o b.mkv");
    must("batch " SCENE " -o scene " SMALL);
    must("batch a.mkv b.mkv " SCENE " -o both " SMALL);
    same_all("scene", "both/a.mkv", 6);
    g_autofree char *live = g_build_filename(folder, "live", NULL);
    g_assert_cmpint(g_mkdir(live, 0700), ==, 0);
    must("run a.mkv --save-disparity live/%%06d_disp16.png " SMALL);
    same_all("scene", "live", 6);
}

/* Pictures turned on disk are those turned by the option. */
CLI_TEST("/cli-cameras/turned", test_turned) {
    must("record " SCENE " -o a.mkv");
    must("batch a.mkv -o turned --rotate180 both --flip R --swap " SMALL);
    must("record a.mkv -o b.mkv --rotate180 both --flip R --swap");
    must("batch b.mkv -o again " SMALL);
    same_all("turned", "again", 6);
    must("batch b.mkv -o back --rotate180 both --flip L --swap " SMALL); /* all of it undone */
    must("batch a.mkv -o plain " SMALL);
    same_all("plain", "back", 6);
}

CLI_TEST("/cli-cameras/pictures", test_pictures) {
    must("run " SCENE
         ",color=0 --frames 1 --out-what left --out 'gst:filesink location=raw' " SMALL);
    g_autofree char *path = g_build_filename(folder, "0.png", NULL);
    g_autofree char *to = g_build_filename(folder, "turned.png", NULL);
    gsize length;
    g_autofree char *raw = read_file("raw", &length);
    g_assert_cmpint((long)length, ==, 64 * 48);
    struct image image = {(uint8_t *)raw, 64, 48, 1};
    g_assert_cmpint(picture_write(path, &image), ==, 0);
    image_rotate180(&image);
    g_assert_cmpint(picture_write(to, &image), ==, 0);
    must("batch 0.png 0.png -o option --rotate180 R " SMALL);
    must("batch 0.png turned.png -o disk " SMALL);
    same_files("option/0_disp16.png", "disk/0_disp16.png");
    g_free(run(2, "batch 0.png 0.png -o option --rotate180 X"));
    g_free(run(2, "run " SCENE " --out fakesink " SMALL));
    g_free(run(4, "run " SCENE " --out gst:fakesink --out-what depth " SMALL));
}

/* Rectified pictures are not rectified again. */
CLI_TEST("/cli-cameras/rectified", test_rectified) {
    static const char rig[] = "%YAML:1.0\n---\n"
                              "M1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                              "   data: [ 60., 0., 31., 0., 60., 23., 0., 0., 1. ]\n"
                              "D1: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n"
                              "   data: [ -0.3, 0., 0., 0., 0. ]\n"
                              "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                              "   data: [ 60., 0., 31., 0., 60., 23., 0., 0., 1. ]\n"
                              "D2: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n"
                              "   data: [ -0.3, 0., 0., 0., 0. ]\n"
                              "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
                              "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
                              "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n"
                              "   data: [ -0.1, 0., 0. ]\n";
    g_autofree char *path = g_build_filename(folder, "rig.yml", NULL);
    g_assert_true(g_file_set_contents(path, rig, -1, NULL));
    must("record " SCENE " -o a.mkv --rectified --calib rig.yml");
    must("batch " SCENE " -o plain " SMALL);
    must("batch a.mkv -o noted --calib a.calibration.yml --unit m " SMALL);
    same_all("plain", "noted", 6);
    must("batch " SCENE " -o maps --calib rig.yml --unit m " SMALL);
    g_assert_false(same("plain/000000_disp16.png", "maps/000000_disp16.png"));
}

int main(int argc, char **argv) {
    return cli_run(argc, argv);
}
