/*
 * Undo and redo of settings. SPDX-License-Identifier: MIT
 */
#include "app/view/state.h"
#include "tests/test.h"

#define SECOND INT64_C(1000000000)

TEST("/history/steps", test_steps) {
    struct history h;
    struct settings p = {0}, q;
    params_default(&p.params);
    history_begin(&h, &p);
    q = p;
    g_assert_false(history_move(&h, -1, &q));
    for (int i = 1; i <= 10; i++) { /* a slider is dragged */
        p.params.bp_iterations = 10 + i;
        history_note(&h, &p, i * SECOND / 10);
    }
    p.params.median_radius = 3;
    history_note(&h, &p, SECOND + 1);
    history_note(&h, &p, SECOND + 2); /* nothing has changed */
    g_assert_cmpint(h.count, ==, 3);
    q = p;
    g_assert_true(history_move(&h, -1, &q));
    g_assert_cmpint(q.params.median_radius, ==, 2);
    g_assert_cmpint(q.params.bp_iterations, ==, 20);
    g_assert_true(history_move(&h, -1, &q));
    g_assert_cmpint(q.params.bp_iterations, ==, 6);
    g_assert_false(history_move(&h, -1, &q));
    g_assert_true(history_move(&h, 1, &q));
    g_assert_cmpint(q.params.bp_iterations, ==, 20);
    q.params.fill = 0; /* what was undone is forgotten */
    history_note(&h, &q, 5 * SECOND);
    g_assert_false(history_move(&h, 1, &q));
    g_assert_true(history_move(&h, -1, &q));
    g_assert_cmpint(q.params.fill, ==, 1);
}

/* Settings that were refused leave a step that differs from no settings; undo passes it by. */
TEST("/history/refused", test_refused) {
    struct history h;
    struct settings first = {0}, p;
    params_default(&first.params);
    p = first;
    history_begin(&h, &p);
    p.params.fill = 0;
    history_note(&h, &p, SECOND);
    struct settings good = p;
    p.params.disparity_range = 300;
    history_note(&h, &p, 3 * SECOND);
    p = good;
    g_assert_true(history_move(&h, -1, &p));
    g_assert_true(params_equal(&p.params, &first.params));
}

/* Undoing what a preset did brings back that the quality was searched, and no preset. */
TEST("/history/choice", test_choice) {
    struct history h;
    struct settings s = {.automatic = true};
    params_default(&s.params);
    s.base = s.params;
    history_begin(&h, &s);
    for (int i = 0; i < 2; i++) {
        s.params.bp_iterations = s.base.bp_iterations = 10 + i;
        s.automatic = false;
        g_strlcpy(s.preset, i ? "best" : "driving", sizeof(s.preset));
        history_note(&h, &s, (2 + 2 * i) * SECOND);
    }
    g_assert_true(history_move(&h, -1, &s));
    g_assert_cmpstr(s.preset, ==, "driving");
    g_assert_true(history_move(&h, -1, &s));
    g_assert_cmpstr(s.preset, ==, "");
    g_assert_true(s.automatic);
    g_assert_cmpint(s.base.bp_iterations, ==, 6);
}

TEST("/history/many", test_many) {
    struct history h;
    struct settings p = {0};
    params_default(&p.params);
    history_begin(&h, &p);
    for (int i = 1; i <= 3 * HISTORY_STEPS; i++) {
        p.params.bp_iterations = 10 + i;
        history_note(&h, &p, 2 * i * SECOND);
    }
    int steps = 0;
    while (history_move(&h, -1, &p))
        steps++;
    g_assert_cmpint(steps, ==, HISTORY_STEPS - 1);
    g_assert_cmpint(p.params.bp_iterations, ==, 10 + 2 * HISTORY_STEPS + 1);
}
