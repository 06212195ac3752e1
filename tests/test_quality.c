/*
 * The quality: what its names set, and the search for the best one that is fast enough, told by
 * frame times. SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"
#include "config/presets.h"
#include "app/live/quality.h"
#include "tests/test.h"

TEST("/quality/presets", test_presets) {
    struct qualities q;
    struct params live, best, mixed;
    g_assert_cmpint(qualities_load(&q), ==, 0);
    g_assert_cmpint(preset_load(&live, "live"), ==, 0);
    g_assert_cmpint(preset_load(&best, "best"), ==, 0);
    for (int i = 0; i <= QUALITY_CUSTOM; i++) /* one name, one thing */
        g_assert_null(preset_find(quality_names[i]));
    g_assert_cmpint(quality_of(&q, &live), ==, QUALITY_LOW);
    g_assert_cmpint(quality_of(&q, &best), ==, QUALITY_HIGH);
    mixed = best;
    mixed.disparity_range = 200; /* none of the quality's */
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_HIGH);
    quality_apply(&q, QUALITY_LOW, &mixed);
    g_assert_cmpint(mixed.disparity_range, ==, 200);
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_LOW);
    g_assert_cmpint(mixed.descriptor, ==, DESCRIPTOR_CENSUS);
    quality_apply(&q, QUALITY_MID, &mixed);
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_MID);
    mixed.bp_iterations = 17;
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_CUSTOM);
    quality_apply(&q, QUALITY_HIGH, &mixed);
    mixed.disparity_range = best.disparity_range;
    g_assert_true(params_equal(&mixed, &best));
    g_assert_cmpint(mixed.descriptor, ==, DESCRIPTOR_LEARNED);
    g_assert_true(quality_covers(&q, param_find("bp_iterations")));
    g_assert_false(quality_covers(&q, param_find("threads")));
}

/* Frames of high, mid and low take so long on whole pictures, and of low on smaller ones. */
struct machine {
    double high, mid, low, half, third;
};

static double time_of(const struct machine *m, const struct quality_search *s) {
    const double whole[QUALITIES] = {m->low, m->mid, m->high}, small[] = {0, m->half, m->third};
    return (s->size ? small[s->size] : whole[s->at]) + (s->frames == 0 ? 50 : 0);
}

/* As many frames as it takes to settle, and how many those are. */
static int settle(struct quality_search *s, const struct machine *m) {
    int frames = 0;
    do
        quality_search_frame(s, time_of(m, s), 0);
    while (!s->settled && ++frames < 100);
    g_assert_true(s->settled);
    return frames;
}

static void play(struct quality_search *s, const struct machine *m, int frames) {
    for (int i = 0; i < frames; i++)
        quality_search_frame(s, time_of(m, s), 0);
}

/* From low up, one after the other, as far as a frame is fast enough. */
TEST("/quality/search", test_search) {
    static const struct {
        struct machine machine;
        int sizes;
        double pixels; /* a core */
        enum quality at;
        int size;
    } cases[] = {{{20, 15, 10, 0, 0}, 1, 1e5, QUALITY_HIGH, 0},
                 {{100, 30, 10, 0, 0}, 1, 1e5, QUALITY_MID, 0},
                 {{300, 80, 30, 0, 0}, 1, 1e5, QUALITY_LOW, 0},
                 {{300, 80, 60, 0, 0}, 1, 1e5, QUALITY_LOW, 0},
                 {{9e3, 5e3, 3e3, 0, 0}, 1, 1e7, QUALITY_LOW, 0}, /* there is nothing faster */
                 {{9e3, 5e3, 100, 40, 15}, 3, 1e5, QUALITY_LOW, 1},
                 {{9e3, 5e3, 3e3, 400, 150}, 3, 1e5, QUALITY_LOW, 2},
                 {{900, 500, 300, 40, 15}, 3, 1e6, QUALITY_LOW, 1},
                 {{900, 70, 20, 4, 1}, 3, 1e6, QUALITY_LOW, 0},
                 {{900, 200, 45, 14, 8}, 3, 1e6, QUALITY_LOW, 0}, /* whole at 22 beats half at 71 */
                 {{900, 200, 60, 18, 8}, 3, 1e6, QUALITY_LOW, 1}, /* 14 whole are predicted */
                 {{900, 200, 75, 16, 8}, 3, 1e6, QUALITY_LOW, 1}, /* 15, but 13 come */
                 {{120, 60, 30, 10, 5}, 3, 1e6, QUALITY_MID, 0},
                 {{60, 30, 20, 4, 1}, 3, 1e6, QUALITY_HIGH, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct quality_search s;
        quality_search_begin(&s, cases[i].sizes, cases[i].pixels * 2, 2, 0);
        g_assert_cmpint(s.at, ==, QUALITY_LOW);
        g_assert_cmpint(s.size > 0, ==, cases[i].sizes > 1 && cases[i].pixels > 2e5);
        int frames = settle(&s, &cases[i].machine);
        g_test_message("%zu: %s, size %d after %d", i, quality_names[s.at], s.size, frames);
        g_assert_cmpint(s.at, ==, cases[i].at);
        g_assert_cmpint(s.size, ==, cases[i].size);
        g_assert_cmpint(frames, <=, 30);
        struct quality_search settled = s; /* what stays as it is changes nothing */
        play(&s, &cases[i].machine, 500);
        g_assert_cmpint(s.at, ==, settled.at);
        g_assert_cmpint(s.size, ==, settled.size);
    }
}

/* A machine on the verge of enough does not go to and fro: each third frame takes longer than the
 * fastest, which a trial goes by. */
TEST("/quality/steady", test_steady) {
    for (double whole = 50; whole < 100; whole++) {
        const struct machine usual = {900, 200, whole, whole / 4, whole / 8},
                             worse = {900, 200, 1.6 * whole, 0.4 * whole, 0.2 * whole};
        struct quality_search s;
        int changes = 0;
        quality_search_begin(&s, QUALITY_SIZES, 1e6, 2, 30);
        for (int i = 0; i < 3000; i++) {
            int size = s.size;
            quality_search_frame(&s, time_of(i % 3 ? &usual : &worse, &s), 0);
            changes += s.size != size;
        }
        g_assert_cmpint(changes, <=, 9);       /* tried again after 4, 16 and 64 looks */
        if (1.2 * whole < 1000 / QUALITY_RATE) /* the mean */
            g_assert_cmpint(s.size, ==, 0);
        if (1.2 * whole > 1.1 * 1000 / QUALITY_RATE)
            g_assert_cmpint(s.size, ==, 1);
    }
}

/* It goes down where something else takes the machine, and up again when that is over. */
TEST("/quality/load", test_load) {
    const struct machine idle = {60, 30, 12, 0, 0}, busy = {200, 110, 40, 0, 0};
    struct quality_search s;
    quality_search_begin(&s, 1, 1e5, 2, 30);
    settle(&s, &idle);
    g_assert_cmpint(s.at, ==, QUALITY_HIGH);
    play(&s, &busy, 100);
    g_assert_cmpint(s.at, ==, QUALITY_LOW);
    play(&s, &idle, 200);
    g_assert_cmpint(s.at, ==, QUALITY_HIGH);
}

/* Where the source takes long the quality stays; frames of a slow source have more time. */
TEST("/quality/source", test_source) {
    struct quality_search s;
    quality_search_begin(&s, QUALITY_SIZES, 1e5, 2, 0);
    for (int i = 0; i < 50; i++)
        quality_search_frame(&s, 100, 80);
    g_assert_true(s.settled);
    g_assert_cmpint(s.size, ==, 0);
    quality_search_begin(&s, QUALITY_SIZES, 1e5, 2, 5);
    for (int i = 0; i < 50; i++)
        quality_search_frame(&s, s.at == QUALITY_LOW ? 90 : 180, 0);
    g_assert_cmpint(s.at, ==, QUALITY_MID);
}
