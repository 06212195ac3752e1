/*
 * What the window remembers: what the user changed, not what the command line set for once, and
 * damaged files are no obstacle. SPDX-License-Identifier: MIT
 */
#include "app/view/session.h"
#include "config/params_file.h"
#include "tests/folder.h"
#include "tests/test.h"

static char *state_file(const char *name) {
    g_autofree char *below = g_build_filename("livestereo", name, NULL);
    return path_in(below);
}

/* A session of the window: started with these, and what was changed in it. */
static void run_session(void (*start_with)(struct session *), void (*change)(struct session *)) {
    const struct common_options none = {0};
    struct session remembered, start, end;
    session_load(&remembered, &none);
    start = remembered;
    start_with(&start);
    end = start;
    change(&end);
    session_save(&end, &start, &remembered);
}

static struct session load(void) {
    const struct common_options none = {0};
    struct session session;
    session_load(&session, &none);
    return session;
}

static void nothing(struct session *session G_GNUC_UNUSED) {
}

static void command_line(struct session *session) {
    session->colormap = 2;
    session->text_scale = 2;
    session->statistics = true;
    session->params.bp_iterations = 9;
    session->params.median_radius = 1;
}

static void by_hand(struct session *session) {
    session->statistics = true;
    session->params.bp_iterations = 7;
}

static void back(struct session *session) {
    session->statistics = false;
    session->params.median_radius = 3;
}

TEST("/session/once", test_once) {
    run_session(command_line, nothing);
    struct session now = load();
    g_assert_cmpint(now.colormap, ==, 0);
    g_assert_cmpfloat(now.text_scale, ==, 1);
    g_assert_false(now.statistics);
    g_assert_cmpint(now.params.bp_iterations, ==, 6);

    run_session(nothing, by_hand);
    run_session(command_line, back); /* over the 9 half-steps of that once */
    now = load();
    g_assert_false(now.statistics);
    g_assert_cmpint(now.params.bp_iterations, ==, 7);
    g_assert_cmpint(now.params.median_radius, ==, 3);
}

static void off_by_mode(struct session *session) {
    session->params.temporal_mode = TEMPORAL_OFF;
}

/* The temporal filter, which the window has on by itself, stays off when the user took it off. */
TEST("/session/off-stays", test_off_stays) {
    g_assert_cmpint(load().params.temporal_mode, ==, TEMPORAL_AUTO);
    run_session(nothing, off_by_mode);
    run_session(nothing, nothing);
    g_assert_cmpint(load().params.temporal_mode, ==, TEMPORAL_OFF);
    run_session(command_line, nothing);
    g_assert_cmpint(load().params.temporal_mode, ==, TEMPORAL_OFF);
}

static void of_paper(struct session *session) {
    struct params paper;
    g_assert_cmpint(preset_load(&paper, "felzenszwalb2006"), ==, 0);
    session->params = paper;
    session->params.disparity_range = 32;
    session->params.mark_filled = false;
    g_strlcpy(session->preset, "felzenszwalb2006", sizeof(session->preset));
}

static void no_preset(struct session *session) {
    session->preset[0] = '\0';
}

/* The quality of a command line is that of its preset whatever was remembered, and is forgotten;
 * what is searched and shown is remembered. */
TEST("/session/quality", test_quality) {
    struct common_options options = {.quality = (char[]){"low"}};
    struct params fast, now;
    run_session(nothing, of_paper);
    struct session remembered = load();
    g_assert_cmpint(remembered.params.fill, ==, 0);
    g_assert_cmpint(preset_load(&fast, "live"), ==, 0);
    now = fast;
    g_assert_true(session_take_params(&remembered, &now, &options));
    fast.disparity_range = 32;
    fast.mark_filled = false;
    g_assert_true(params_equal(&now, &fast));
    run_session(no_preset, nothing);
    g_assert_cmpstr(load().preset, ==, "felzenszwalb2006");
}

static void of_first(struct session *session) {
    g_strlcpy(session->source, "/first", sizeof(session->source));
}

static void of_second(struct session *session) {
    g_strlcpy(session->source, "/second", sizeof(session->source));
}

static void wide_range(struct session *session) {
    of_first(session);
    session->params.disparity_range = 276;
    session->params.smooth_sigma = 0.5;
}

/* As the window does: the start has what was remembered only if it was of this source. */
static void second_starts(struct session *session) {
    of_second(session);
    session_forget_search(&session->params);
}

static void go_to_second(struct session *session) {
    second_starts(session);
    session->params.disparity_range = 40;
}

/* The disparities searched are remembered for one source; all else for any. */
TEST("/session/range-of-source", test_range_of_source) {
    run_session(of_first, wide_range);
    g_assert_cmpstr(load().source, ==, "/first");
    g_assert_cmpint(load().params.disparity_range, ==, 276);
    run_session(second_starts, nothing);
    g_assert_cmpstr(load().source, ==, "/second");
    g_assert_cmpint(load().params.disparity_range, ==, 64);
    g_assert_cmpfloat(load().params.smooth_sigma, ==, 0.5);
    run_session(of_first, wide_range);
    run_session(of_first, go_to_second); /* opened in the window */
    g_assert_cmpstr(load().source, ==, "/second");
    g_assert_cmpint(load().params.disparity_range, ==, 40);
}

/* Names and values that are not known are said once; the rest is used. */
TEST("/session/unknown", test_unknown) {
    g_autofree char *path = state_file("last.ini"), *text = NULL;
    run_session(nothing, by_hand);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autofree char *more =
        g_strconcat(text, "of_tomorrow=1\nbp_levels=400\nlr_check=gone\n", NULL);
    g_assert_true(g_file_set_contents(path, more, -1, NULL));
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(load().params.bp_iterations, ==, 7);
    g_autofree char *said = stderr_end(caught);
    g_assert_nonnull(strstr(said, "no parameter \"of_tomorrow\"; it is left out\n"));
    g_assert_nonnull(strstr(said, "bp_levels: 400 is outside the range; give a whole number from 1 "
                                  "to 10; it is left out\n"));
    g_assert_nonnull(strstr(said, "lr_check: \"gone\" is not one of its choices"));
    run_session(nothing, nothing);
    caught = stderr_begin();
    g_assert_cmpint(load().params.bp_iterations, ==, 7);
    g_autofree char *nothing_said = stderr_end(caught);
    g_assert_cmpstr(nothing_said, ==, "");
}
