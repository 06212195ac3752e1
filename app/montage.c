/*
 * See montage.h. SPDX-License-Identifier: MIT
 */
#include "app/montage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t energy_of(const struct recipe *r, const uint16_t *label) {
    size_t width = (size_t)r->width, pixels = width * (size_t)r->height;
    int64_t sum = 0;
    for (size_t i = 0; i < pixels; i++) {
        sum += r->cost[i * (size_t)r->labels + label[i]];
        if (i % width + 1 < width)
            sum += recipe_seam(r, i, label[i], i + 1, label[i + 1]);
        if (i + width < pixels)
            sum += recipe_seam(r, i, label[i], i + width, label[i + width]);
    }
    return sum;
}

/* Adds an edge to a move's problem, where a pixel keeps its label (0) or changes to alpha (1), and
 * returns its weight, (V01 + V10 - V00 - V11) / 2: not below 0, since seams keep the triangle
 * inequality but for rounding. Where it would be no whole number, V01 counts one more. */
static uint8_t add_edge(const struct recipe *r, const uint16_t *label, int alpha, size_t i,
                        size_t k, float *cost) {
    int v00 = recipe_seam(r, i, label[i], k, label[k]), v01 = recipe_seam(r, i, label[i], k, alpha),
        v10 = recipe_seam(r, i, alpha, k, label[k]);
    v01 += (v01 + v10 - v00) & 1;
    int weight = (v01 + v10 - v00) / 2;
    cost[2 * i] += (float)v00;
    cost[2 * i + 1] += (float)(v10 - weight);
    cost[2 * k + 1] += (float)(v01 - v00 - weight);
    return (uint8_t)weight;
}

static void fill_move(const struct recipe *r, const uint16_t *label, int alpha, float *cost,
                      uint8_t *right, uint8_t *down) {
    size_t width = (size_t)r->width, pixels = width * (size_t)r->height;
    for (size_t i = 0; i < pixels; i++) {
        const uint16_t *own = r->cost + i * (size_t)r->labels;
        cost[2 * i] = own[label[i]];
        cost[2 * i + 1] = own[alpha];
    }
    for (size_t i = 0; i < pixels; i++) {
        bool is_right = i % width + 1 < width, is_down = i + width < pixels;
        right[i] = is_right ? add_edge(r, label, alpha, i, i + 1, cost) : 0;
        down[i] = is_down ? add_edge(r, label, alpha, i, i + width, cost) : 0;
    }
}

/* Moves until as many as there are other labels have failed. next: the labels after a move. */
static int expand(const struct recipe *r, const struct livestereo_problem *settings,
                  struct livestereo_problem *move, struct livestereo_solution *s, float *cost,
                  uint16_t *next) {
    size_t pixels = (size_t)r->width * (size_t)r->height;
    struct livestereo_solution moved = LIVESTEREO_SOLUTION;
    int error = 0, stop = 0;
    moved.label = next;
    for (int failed = 0; failed < r->labels - 1 && !error && !stop; failed++) {
        int alpha = ++s->sweeps % r->labels;
        fill_move(r, s->label, alpha, cost, r->right, r->down);
        error = livestereo_solve(move, &moved);
        for (size_t i = 0; i < pixels && !error; i++)
            next[i] = next[i] ? (uint16_t)alpha : s->label[i];
        int64_t energy = error ? 0 : energy_of(r, next);
        if (!error && (double)energy < s->energy) {
            memcpy(s->label, next, pixels * sizeof(*next));
            s->energy = (double)energy;
            failed = -1;
        }
        if (!error && settings->after_sweep)
            stop = settings->after_sweep(settings->context, s->sweeps, s->energy, s->bound);
    }
    return error;
}

int montage_solve(struct recipe *r, const struct livestereo_problem *settings,
                  struct livestereo_solution *s) {
    size_t pixels = (size_t)r->width * (size_t)r->height;
    float *cost = calloc(pixels, 2 * sizeof(*cost));
    uint16_t *next = malloc(pixels * sizeof(*next));
    struct livestereo_problem move = *settings;
    int error = -ENOMEM;
    move.labels = 2;
    move.number = LIVESTEREO_FLOAT32;
    move.cost = cost;
    move.label_bytes = sizeof(*cost);
    move.pixel_bytes = 2 * move.label_bytes;
    move.row_bytes = move.pixel_bytes * r->width;
    move.after_sweep = NULL;
    memset(s->label, 0, pixels * sizeof(*s->label));
    if (cost && next) {
        s->sweeps = 0;
        s->bound = NAN;
        s->energy = (double)energy_of(r, s->label);
        error = expand(r, settings, &move, s, cost, next);
    }
    free(cost);
    free(next);
    return error;
}
