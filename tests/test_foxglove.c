/*
 * --out foxglove: as clients meet it. This program serves frames of known content, with the
 * parameters that clients have set; tests/foxglove_client.py speaks the protocol, behaves badly,
 * and tests/foxglove_page.py looks at the page in a browser. SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "app/live/output.h"
#include "tests/cli.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>

enum { W = 640, H = 480, FRAME_MS = 33 };
/* Both scripts know these and what frames hold. */
enum { GO = 77, AWAY_MS = 4000 }; /* a speckle_size: the server goes, another comes after AWAY_MS */
static const struct depth_geometry metres = {500, 500, 320, 240, 0.1, 0, 1},
                                   other_metres = {500, 500, 320, 240, 0.2, 0, 1};

static int free_port(void) {
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof place;
    int handle = socket(AF_INET, SOCK_STREAM, 0);
    g_assert_cmpint(bind(handle, (struct sockaddr *)&place, length), ==, 0);
    g_assert_cmpint(getsockname(handle, (struct sockaddr *)&place, &length), ==, 0);
    close(handle);
    return ntohs(place.sin_port);
}

static struct output *open_server(const char *place, const struct params *params,
                                  const struct depth_geometry *geometry, int *code) {
    g_autofree char *text = g_strconcat("foxglove:", place, NULL);
    struct output_options options = {text};
    struct output_about about = {geometry, params, "a drawn plane", false};
    return output_open(&options, &about, code);
}

/* Disparities of 1 to 40 px in 1/16 px, column by column, unknown in the first row; frame number at
 * the time number s. */
static struct frame *make_frame(struct frame_pool *pool, const struct params *params, int number) {
    struct frame *frame = pool_take(pool);
    frame->index = number;
    frame->left_ns = number * INT64_C(1000000000);
    *frame->params = *params;
    for (int i = 0; i < W * H; i++) {
        frame->disparity[i] = i < W ? DISPARITY_UNKNOWN : (int16_t)(16 + i % W);
        frame->confidence[i] = (uint8_t)(i / W % 256);
        for (int c = 0; c < 3; c++)
            frame->rect_left.data[3 * i + c] = (uint8_t)(i % W / 4 + 20 * c);
    }
    return frame;
}

/* Serves until the script ends, which must be with 0. 77: it lacks something that it names. */
static void serve_script(const char *script) {
    struct params params;
    params_default(&params);
    int port = free_port(), code, status;
    g_autofree char *place = g_strdup_printf("%d", port);
    struct output *output = open_server(place, &params, &metres, &code);
    g_assert_nonnull(output);
    const char *python = g_getenv("PYTHON");
    char *argv[] = {(char *)(gpointer)(python ? python : "/usr/bin/python3"),
                    (char *)(gpointer)script, place, NULL};
    GPid child;
    GError *error = NULL;
    g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH, NULL, NULL,
                  &child, &error);
    g_assert_no_error(error);
    struct frame_pool *pool = pool_open(1 + OUTPUT_FRAMES, W, H, 3, false, NULL);
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
        struct frame *frame = make_frame(pool, &params, i);
        output_give(output, frame);
        frame_drop(&frame);
        output_take_params(output, &params);
        g_usleep(1000 * FRAME_MS);
        if (params.speckle_size == GO) {
            output_close(&output);
            params_default(&params);
            g_usleep(1000 * AWAY_MS);
            output = open_server(place, &params, &other_metres, &code);
            g_assert_nonnull(output);
        }
    }
    output_close(&output);
    pool_close(&pool);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        g_test_skip("needs python3-websockets, and for the page python3-selenium, chromium-driver");
    else
        g_assert_cmpint(status, ==, 0);
}

TEST("/foxglove/client", test_client) {
    serve_script("tests/foxglove_client.py");
}

/* Serves by the program, whose words these are, until the client's part ends. */
static void serve_program(const char *words, const char *part) {
    g_autofree char *place = g_strdup_printf("foxglove:%d", free_port()),
                    *line_of = g_strdup_printf("%s run %s --set backend=cpu --preset live --out %s",
                                               binary(), words, place);
    g_auto(GStrv) run = g_strsplit(line_of, " ", -1);
    const char *python = g_getenv("PYTHON");
    char *client[] = {(char *)(gpointer)(python ? python : "/usr/bin/python3"),
                      "tests/foxglove_client.py", strchr(place, ':') + 1, (char *)(gpointer)part,
                      NULL};
    GError *error = NULL;
    int status, out;
    GPid program;
    char *line = NULL;
    g_spawn_async_with_pipes(NULL, run, NULL,
                             G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                             &program, NULL, NULL, &out, &error);
    g_assert_no_error(error);
    GIOChannel *said = g_io_channel_unix_new(out);
    do { /* until it listens */
        g_free(line);
        g_io_channel_read_line(said, &line, NULL, NULL, NULL);
    } while (line && !strstr(line, "in Foxglove"));
    g_free(line);
    g_spawn_sync(NULL, client, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
    g_assert_no_error(error);
    kill(program, SIGINT);
    int ended;
    waitpid(program, &ended, 0);
    g_io_channel_unref(said);
    close(out);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        g_test_skip("needs python3-websockets");
        return;
    }
    g_assert_cmpint(status, ==, 0);
    g_assert_true(WIFEXITED(ended));
    g_assert_cmpint(WEXITSTATUS(ended), ==, 0);
}

/* A client's settings that the pictures do not allow are refused to it, and the run goes on. */
CLI_TEST("/foxglove/refused-settings", test_refused_settings) {
    serve_program("synth:width=160,height=120,rate=30 --set disparity_range=32", "refused");
}

/* Stamps go on where the source begins again. */
CLI_TEST("/foxglove/looped", test_looped) {
    write_frames("in", 3);
    g_autofree char *words =
        g_strdup_printf("%s/in --loop --rate 20 --set disparity_range=8", folder);
    serve_program(words, "looped");
}

TEST("/foxglove/page", test_page) {
    serve_script("tests/foxglove_page.py");
}

static void refuse(const char *place, int expected, const char *text) {
    struct params params;
    params_default(&params);
    int code;
    stderr_says("--out", text, g_assert_null(open_server(place, &params, &metres, &code)));
    g_assert_cmpint(code, ==, expected);
}

TEST("/foxglove/refused", test_refused) {
    static const char *const bad[] = {"", "port", "0", "65536", "8765x", "robot:8765", "::1"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        refuse(bad[i], EXIT_USAGE, "write foxglove:8765");
    struct params params;
    params_default(&params);
    int code;
    g_autofree char *place = g_strdup_printf("%d", free_port());
    AUTO(output_close) struct output *first = open_server(place, &params, &metres, &code);
    g_assert_nonnull(first);
    refuse(place, EXIT_RUN_FAILED, "another program");
}
