/*
 * Part of parity_tuned.c: how the arguments of each stage with a tuned twin are drawn.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PARITY_TUNED_CASES_H
#define LIVESTEREO_PARITY_TUNED_CASES_H

#include "tests/parity_tuned.h"

/* rho and T of the four classes: no slope, slope beyond T, and T/rho from 1 to 20 and at its
 * largest. */
static void draw_envelopes(struct trial *t, uint8_t rho[4], uint8_t truncation[4]) {
    for (int c = 0; c < 4; c++) {
        int most = trial_between(t, 0, 3) ? trial_between(t, 0, TRUNCATION_MOST) : TRUNCATION_MOST;
        int kind = trial_between(t, 0, 4);
        truncation[c] = (uint8_t)most;
        rho[c] = (uint8_t)(kind == 0   ? trial_between(t, 0, 1)
                           : kind == 1 ? trial_between(t, most, 255)
                                       : most / trial_between(t, 1, 20));
    }
}

static void make_messages(struct trial *t, int wide, int resting) {
    struct message_args a = {.grid = t->grid};
    size_t volume = grid_volume(&t->grid);
    if (wide)
        a.cost16 = trial_words(t, volume, COST_SATURATION);
    else
        a.cost8 = trial_bytes(t, volume, COST_MOST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = trial_bytes(t, volume, TRUNCATION_MOST);
    if (trial_between(t, 0, 1))
        a.classes = trial_bytes(t, (size_t)t->grid.width * (size_t)t->grid.height, 255);
    draw_envelopes(t, a.rho, a.truncation);
    a.iteration = trial_between(t, 0, 5);
    if (resting) {
        a.flags = trial_bytes(t, grid_pixels(&t->grid), 255);
        uint8_t *flags = trial_last(t); /* most pixels at rest, as in use */
        for (size_t i = 0; i < grid_pixels(&t->grid); i++)
            flags[i] = trial_between(t, 0, 7) ? 0 : flags[i];
        a.threshold = trial_between(t, 0, 2) ? trial_between(t, 0, 64) : 0;
    }
    t->width = t->grid.half;
    t->steps = trial_between(t, 1, 7);
    trial_args(t, &a, sizeof(a));
}

static void make_message8(struct trial *t) {
    make_messages(t, 0, 0);
}

static void make_message16(struct trial *t) {
    make_messages(t, 1, 0);
}

static void make_resting8(struct trial *t) {
    make_messages(t, 0, 1);
}

static void make_resting16(struct trial *t) {
    make_messages(t, 1, 1);
}

static const struct trial_case trial_cases[] = {
    {"message, 8-bit cost", STAGE_message, make_message8, 1, 0},
    {"message, 16-bit cost", STAGE_message, make_message16, 1, 0},
    {"half-steps together, 8-bit cost", STAGE_message, make_message8, 1, 1},
    {"half-steps together, 16-bit cost", STAGE_message, make_message16, 1, 1},
    {"message_resting, 8-bit cost", STAGE_message_resting, make_resting8, 1, 0},
    {"message_resting, 16-bit cost", STAGE_message_resting, make_resting16, 1, 0},
    {"message_resting from the start of a level", STAGE_message_resting, make_resting8, 1, 1},
    {NULL, STAGE_COUNT, NULL, 0, 0},
};

#endif
