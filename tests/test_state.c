/*
 * What is computed, of the user's settings and of what is found, played, dragged and sent: tables.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/state.h"
#include "tests/test.h"

static struct qualities qualities;

/* Settings of a window that finds its quality, over 640 px wide pictures. */
static struct settings begin(struct situation *in, const struct quality_search *search) {
    static struct params running;
    struct settings s = {.automatic = true};
    g_assert_cmpint(qualities_load(&qualities), ==, 0);
    params_default(&s.params);
    quality_apply(&qualities, QUALITY_HIGH, &s.params);
    s.base = running = s.params;
    *in = (struct situation){
        .qualities = &qualities, .search = search, .running = &running, .scale = 1, .width = 640};
    return s;
}

/* Whatever is found, chosen or sent, the disparities of the settings stay, and those computed
 * follow the size. */
TEST("/state/search", test_search) {
    static const struct {
        int range, min, size; /* of settings, and of the search */
        double scale, held;
        bool still;
        int computed, computed_min;
        double computed_scale;
    } cases[] = {{64, 0, 0, 1, 0, false, 64, 0, 1},
                 {64, 0, 1, 1, 0, false, 32, 0, 0.5},
                 {64, 0, 2, 1, 0, false, 21, 0, 1.0 / 3},
                 {64, 0, 2, 1, 0, true, 64, 0, 1},     /* what stands still is whole */
                 {64, 0, 2, 1, 0.5, true, 32, 0, 0.5}, /* but where it is recorded */
                 {64, -9, 1, 1, 0, false, 32, -5, 0.5},
                 {90, 3, 0, 0.7, 0, false, 63, 2, 0.7},
                 {90, 3, 0, 0.7, 0, true, 63, 2, 0.7}, /* as the user has it */
                 {3, 0, 0, 0.125, 0, false, 2, 0, 0.125},
                 {900, 0, 0, 1, 0, false, 512, 0, 1}, /* no more than there can be */
                 {900, 0, 1, 1, 0, false, 319, 0, 0.5}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct quality_search search = {.on = true, .size = cases[i].size};
        struct situation in;
        struct settings s = begin(&in, &search);
        s.params.disparity_range = cases[i].range;
        s.params.min_disparity = cases[i].min;
        in.scale = cases[i].scale;
        in.held_scale = cases[i].held;
        in.still = cases[i].still;
        const struct settings before = s;
        struct effective now = state_effective(&s, &in);
        g_assert_cmpint(now.params.disparity_range, ==, cases[i].computed);
        g_assert_cmpint(now.params.min_disparity, ==, cases[i].computed_min);
        g_assert_cmpfloat_with_epsilon(now.scale, cases[i].computed_scale, 1e-9);
        g_assert_cmpint(now.asked.disparity_range, ==, MIN(cases[i].range, 639));
        g_assert_true(params_equal(&s.params, &before.params));
    }
}

/* The quality of what is computed: found, best at rest, low while a slider moves, or as chosen. */
TEST("/state/quality", test_quality) {
    static const struct {
        bool automatic;
        int chosen; /* or found */
        bool still, preview;
        int asked, computed;
    } cases[] = {{true, QUALITY_LOW, false, false, QUALITY_LOW, QUALITY_LOW},
                 {true, QUALITY_MID, false, false, QUALITY_MID, QUALITY_MID},
                 {true, QUALITY_LOW, true, false, QUALITY_HIGH, QUALITY_HIGH},
                 {true, QUALITY_LOW, true, true, QUALITY_HIGH, QUALITY_LOW},
                 {false, QUALITY_MID, false, false, QUALITY_MID, QUALITY_MID},
                 {false, QUALITY_MID, true, false, QUALITY_MID, QUALITY_MID},
                 {false, QUALITY_HIGH, true, true, QUALITY_HIGH, QUALITY_LOW}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct quality_search search = {.at = (enum quality)cases[i].chosen};
        struct situation in;
        struct settings s = begin(&in, &search);
        s.automatic = cases[i].automatic;
        if (!s.automatic)
            quality_apply(&qualities, (enum quality)cases[i].chosen, &s.params);
        in.still = cases[i].still;
        in.preview = cases[i].preview;
        struct effective now = state_effective(&s, &in);
        g_assert_cmpint(quality_of(&qualities, &now.asked), ==, cases[i].asked);
        g_assert_cmpint(quality_of(&qualities, &now.params), ==, cases[i].computed);
    }
}

/* Another parameter leaves the quality automatic, and one that the quality covers ends that: what
 * was found is then as the program set it, and what was changed as the user did. */
TEST("/state/change", test_change) {
    const struct quality_search search = {.at = QUALITY_LOW, .size = 1};
    struct situation in;
    struct settings s = begin(&in, &search);
    struct params wanted = state_effective(&s, &in).asked;
    wanted.disparity_range = 70;
    state_change(&s, &in, &wanted);
    g_assert_true(s.automatic);
    g_assert_cmpint(quality_of(&qualities, &s.params), ==, QUALITY_HIGH);
    struct effective now = state_effective(&s, &in);
    g_assert_cmpint(now.asked.disparity_range, ==, 70);
    g_assert_cmpint(now.params.disparity_range, ==, 35);

    wanted = now.asked;
    wanted.bp_iterations = 17;
    state_change(&s, &in, &wanted);
    g_assert_false(s.automatic);
    g_assert_cmpint(s.params.bp_iterations, ==, 17);
    int changed = 0;
    for (int i = 0; i < param_count; i++)
        changed += param_get(&s.params, &param_table[i]) != param_get(&s.base, &param_table[i]);
    g_assert_cmpint(changed, ==, 2);
    now = state_effective(&s, &in);
    g_assert_true(params_equal(&now.asked, &wanted));
}

/* What comes in px of the computed pictures changes what it differs in, and no more. */
TEST("/state/taken", test_taken) {
    const struct quality_search search = {.at = QUALITY_LOW, .size = 2};
    struct situation in;
    struct settings s = begin(&in, &search);
    struct effective now = state_effective(&s, &in);
    struct params sent = now.params, asked = state_asked(&now, &sent);
    g_assert_true(params_equal(&asked, &now.asked)); /* 21 of a third are 64 still */
    sent.disparity_range = 30;
    sent.median_radius = 3;
    asked = state_asked(&now, &sent);
    g_assert_cmpint(asked.disparity_range, ==, 90);
    g_assert_cmpint(asked.median_radius, ==, 3);
    asked.disparity_range = now.asked.disparity_range;
    asked.median_radius = now.asked.median_radius;
    g_assert_true(params_equal(&asked, &now.asked));
}

/* A parameter of START is computed with as the pipeline was opened. */
TEST("/state/start", test_start) {
    const struct quality_search search = {0};
    struct situation in;
    struct settings s = begin(&in, &search);
    s.params.sync_tolerance_ms = 2.5;
    struct effective now = state_effective(&s, &in);
    g_assert_cmpfloat(now.asked.sync_tolerance_ms, ==, 2.5);
    g_assert_cmpfloat(now.params.sync_tolerance_ms, ==, s.base.sync_tolerance_ms);
}
