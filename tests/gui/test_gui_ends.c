/*
 * Ends that nobody asked for: an OpenGL that is too old, a lost context, a missing codec, a damaged
 * file. Each is one clear line and an exit code, or a message in a window that stays. And the end
 * that --screenshot waits for. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"
#include "tests/recording.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define LIMIT "timeout 600 " /* for what hangs */

/* Runs a window that ends by itself, with changes to the environment (NAME=VALUE). Exit code, and
 * what it said. */
static int run(const char *changes[], const char *words, char **said) {
    char **environment = g_get_environ(), **argv, *out = NULL;
    g_autofree char *line = g_strdup_printf(LIMIT "%s %s", g_getenv("LIVESTEREO_BIN"), words);
    int status = 0;
    GError *error = NULL;
    for (int i = 0; changes[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(changes[i], "=", 2);
        environment = g_environ_setenv(environment, parts[0], parts[1], TRUE);
    }
    g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
    g_spawn_sync(NULL, argv, environment, G_SPAWN_SEARCH_PATH, gui_die_with_test, NULL, &out, said,
                 &status, &error);
    g_assert_no_error(error);
    g_strfreev(environment);
    g_strfreev(argv);
    g_free(out);
    g_assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The exit code, and one line that holds the text. */
static void expect(const char *changes[], const char *words, int code, const char *text) {
    g_autofree char *said = NULL;
    int got = run(changes, words, &said);
    g_test_message("%s", said);
    g_assert_cmpint(got, ==, code);
    g_assert_nonnull(strstr(said, text));
    g_assert_cmpint(strchr(said, '\n') - said, ==, (long)strlen(said) - 1);
}

GUI_TEST("/gui-ends/old-opengl", test_old_opengl) {
    const char *none[] = {NULL}, *changes[] = {"MESA_GL_VERSION_OVERRIDE=2.1", NULL};
    g_autofree char *path = path_in("old.png"), *said = NULL;
    g_autofree char *words =
        g_strdup_printf("view -v --frames 1 --screenshot %s " GUI_SOURCE, path);
    g_assert_cmpint(run(none, words, &said), ==, 0);
    if (strstr(said, "Mesa"))
        expect(changes, "view -q " GUI_SOURCE, 5, "OpenGL cannot do version 3.3");
    else
        g_test_skip("only Mesa's OpenGL can be told to be old");
}

/* A picture of the last pair, which is computed for seconds after the source has ended. */
GUI_TEST("/gui-ends/late-picture", test_late_picture) {
    const char *none[] = {NULL};
    g_autofree char *path = path_in("late.png"),
                    *words = g_strdup_printf(
                        "view -q --set backend=cpu --set threads=1 --set disparity_range=64 "
                        "--set bp_iterations=1000 --frames 2 --screenshot %s "
                        "synth:width=400,height=300,range=64,frames=1",
                        path),
                    *said = NULL;
    g_assert_cmpint(run(none, words, &said), ==, 0);
    g_assert_cmpstr(said, ==, "");
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
}

/* By a library that answers in the driver's place (lost_context.c). */
GUI_TEST("/gui-ends/lost-context", test_lost_context) {
    g_autofree char *change = gui_preload("lost_context.so");
    const char *changes[] = {change, NULL};
    expect(changes, "view -q " GUI_SOURCE ",rate=30", 1,
           "the graphics driver lost the OpenGL context (reset or unplugged); start livestereo "
           "again");
}

GUI_TEST("/gui-ends/missing-codec", test_missing_codec) {
    const char *changes[] = {"GST_PLUGIN_FEATURE_RANK=jpegdec:NONE,avdec_mjpeg:NONE,nvjpegdec:NONE",
                             NULL};
    g_autofree char *path = path_in("sbs.mkv");
    g_autofree char *launch =
        g_strdup_printf("videotestsrc num-buffers=3 ! video/x-raw,width=320,height=120 "
                        "! jpegenc ! matroskamux ! filesink location=%s",
                        path);
    g_autofree char *words = g_strdup_printf("view -q %s", path);
    if (recording_write(launch, 0, 20))
        expect(changes, words, 3, "apt install gstreamer1.0-");
    else
        g_test_skip("needs jpegenc of gstreamer1.0-plugins-good");
}

/* Half of a recording plays to where it ends, the window says so and stays. */
static void play_half(const char *path) {
    char *bytes;
    gsize length;
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length / 2, NULL));
    g_free(bytes);
    GUI_PROGRAM p = gui_begin("--rate 100", path);
    gui_wait_for(&p, gui_is(&p, "state", "ended", "1") && gui_says(&p, ".mkv: Ends after "));
    gui_run_until(&p, "step-back", "paused", "1"); /* nothing is under way any more */
    gui_settle(&p);
    long last = gui_number(&p, "state", "frame");
    g_test_message("stands at frame %ld of 40", last);
    g_assert_cmpint(last, >, 10);
    g_assert_cmpint(last, <, 30);
    gui_run_action(&p, "step-back");
    gui_wait_for(&p, gui_number(&p, "state", "frame") == last - 1);
}

GUI_TEST("/gui-ends/damaged", test_damaged) {
    gui_on_recording(play_half);
}

static gboolean has_line(const char *path) {
    g_autofree char *text = NULL;
    return g_file_get_contents(path, &text, NULL, NULL) && strchr(text, '\n');
}

/* A display server of its own, which is killed under the window. */
GUI_TEST("/gui-ends/dead-server", test_dead_server) {
    g_autofree char *server = g_find_program_in_path("Xvfb"), *map_path = path_in("map"),
                    *said_path = path_in("said"), *said = NULL;
    if (!server) {
        g_test_skip("needs Xvfb");
        return;
    }
    g_autofree char
        *line = g_strdup_printf(
            "sh -c 'exec 3>%s/number; exec Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp'",
            folder),
        *number_path = path_in("number"), *number = NULL;
    struct gui_program p = {.map = map_path};
    GPid of_server;
    int argc;
    g_auto(GStrv) server_argv = NULL;
    g_assert_true(g_shell_parse_argv(line, &argc, &server_argv, NULL));
    g_assert_true(
        g_spawn_async(NULL, server_argv, NULL,
                      G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL,
                      gui_die_with_test, NULL, &of_server, NULL));
    gui_wait_for(&p, has_line(number_path));
    g_assert_true(g_file_get_contents(number_path, &number, NULL, NULL));
    g_autofree char *start =
        g_strdup_printf("env -u WAYLAND_DISPLAY DISPLAY=:%d sh -c 'exec " LIMIT
                        "%s view -q --ui-map %s " GUI_SOURCE ",rate=30 2>%s'",
                        atoi(number), g_getenv("LIVESTEREO_BIN"), map_path, said_path);
    g_auto(GStrv) argv = NULL;
    g_assert_true(g_shell_parse_argv(start, &argc, &argv, NULL));
    g_assert_true(g_spawn_async(NULL, argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                                gui_die_with_test, NULL, &p.pid, NULL));
    gui_wait_for(&p, gui_number(&p, "state", "frame") >= 0);
    kill(of_server, SIGKILL);
    waitpid(of_server, NULL, 0);
    gui_wait_end(&p, 1);
    g_assert_true(g_file_get_contents(said_path, &said, NULL, NULL));
    g_test_message("%s", said);
    g_assert_nonnull(strstr(said, "the X server of display "));
    g_assert_cmpint(strchr(said, '\n') - said, ==, (long)strlen(said) - 1);
}

/* What is saved does not fit on the disk: the files of a pair have one cause, and one line. */
GUI_TEST("/gui-ends/full-disk", test_full_disk) {
    struct gui_program p = {0};
    struct rlimit before, small;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    small = before;
    small.rlim_cur = 64 << 10; /* the map for tests fits, pictures do not */
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    struct stderr_of log = stderr_begin();
    gui_start(&p, "--paused", "synth:width=400,height=300,range=16,color=1,noise=20");
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    gui_settle(&p);
    gui_run_action(&p, "export");
    gui_wait_for(&p, gui_says(&p, "Cannot be written"));
    gui_quit(&p);
    stderr_one_line(log, "-left.png", "cannot be written");
}
