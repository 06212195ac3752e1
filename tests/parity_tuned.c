/*
 * Every stage that has a tuned twin: plain rows, tuned rows on two threads and shuffled pixels give
 * the same bytes, and none writes outside its outputs. Odd and smallest sizes, all-zero, all-max
 * and random fills, extremes of rho and T. Needs neither GLib nor data. An argument is the seed;
 * TAP on stdout.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend.h"
#include "tests/parity_tuned_cases.h"

#include <stdio.h>

static const int label_counts[] = {2,  3,  15, 16,  17,  31,  32,  48,
                                   60, 64, 65, 100, 128, 200, 256, 512};
static const int widths[] = {1, 2, 3, 5, 16, 17, 63, 141}, heights[] = {1, 2, 3, 7, 85};
static const char *const fill_names[FILLS] = {"zero", "max", "random"};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void trial_free(struct trial *t) {
    free(t->args);
    for (int i = 0; i < t->buffers; i++) {
        free(t->buffer[i].live);
        free(t->buffer[i].start);
        free(t->buffer[i].plain);
    }
    t->buffers = 0;
}

static int stray(const struct trial_buffer *b) {
    size_t end = TRIAL_GUARD + b->bytes;
    return memcmp(b->live, b->start, TRIAL_GUARD) ||
           memcmp(b->live + end, b->start + end, b->whole - end);
}

static int same_or_say(const struct trial *t, const char *form, enum stage stage) {
    for (int i = 0; i < t->buffers; i++) {
        const struct trial_buffer *b = &t->buffer[i];
        if (stray(b)) {
            printf("# %s, %s: wrote outside buffer %d\n", stage_names[stage], form, i);
            return 0;
        }
        for (size_t at = 0; at < b->whole; at++)
            if (b->live[at] != b->plain[at]) {
                printf("# %s, %s: buffer %d of %zu bytes, byte %zu is %d, plain %d\n",
                       stage_names[stage], form, i, b->bytes, at - TRIAL_GUARD, b->live[at],
                       b->plain[at]);
                return 0;
            }
    }
    return 1;
}

static void start(struct trial *t) {
    for (int i = 0; i < t->buffers; i++)
        memcpy(t->buffer[i].live, t->buffer[i].start, t->buffer[i].whole);
}

static void keep(struct trial *t) {
    for (int i = 0; i < t->buffers; i++)
        memcpy(t->buffer[i].plain, t->buffer[i].live, t->buffer[i].whole);
}

/* Both passes of half_steps forms are compared through the same function. */
static void run_form(struct backend *b, const struct trial *t, const struct trial_case *c) {
    if (c->steps && c->stage == STAGE_message && b->half_steps) {
        b->half_steps(b, t->args, t->steps);
    } else if (c->steps) {
        struct message_args a = *(const struct message_args *)t->args;
        a.iteration = c->stage == STAGE_message ? a.iteration : 0;
        for (int i = 0; i < t->steps; i++, a.iteration++)
            b->run(b, c->stage, &a, t->width, t->height);
    } else {
        b->run(b, c->stage, t->args, t->width, t->height);
    }
    if (b->finish(b))
        abort();
}

static int compare(struct backend *form[3], struct trial *t, const struct trial_case *c) {
    static const char *const name[] = {"plain", "tuned", "shuffled"};
    int same = 1;
    for (int f = 0; f < 3 && same; f++) {
        start(t);
        run_form(form[f], t, c);
        if (f == 0)
            keep(t);
        same = same_or_say(t, name[f], c->stage);
    }
    return same;
}

static int run_size(struct backend *form[3], const struct trial_case *c, int w, int h, int labels,
                    uint64_t seed) {
    for (int fill = 0; fill < FILLS; fill++) {
        struct trial t = {.fill = fill, .seed = seed, .width = w, .height = h};
        t.grid = (struct grid){w, h, (w + 1) / 2, labels,
                               (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK};
        c->make(&t);
        int same = compare(form, &t, c);
        trial_free(&t);
        if (!same) {
            printf("# %dx%d, %d labels, fill %s, seed %llu\n", w, h, labels, fill_names[fill],
                   (unsigned long long)seed);
            return 0;
        }
    }
    return 1;
}

static int run_case(struct backend *form[3], const struct trial_case *c, uint64_t *seed) {
    for (int l = 0; l < (c->labels ? COUNT(label_counts) : 1); l++)
        for (int i = 0; i < COUNT(widths); i++)
            for (int j = 0; j < COUNT(heights); j++) {
                int w = widths[i], h = heights[j], labels = label_counts[l];
                int bands = h > 7; /* enough rows for several bands */
                if ((labels > 65 && (w > 17 || h > 3)) || (bands && (!c->steps || w > 5)) ||
                    (w > 63 && (!c->steps || h < 3 || labels > 17)))
                    continue;
                *seed += 0x9e3779b97f4a7c15ull;
                if (!run_size(form, c, w, h, labels, *seed | 1))
                    return 0;
            }
    return 1;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int error = 0, failed = 0, cases = 0;
    struct backend *form[3] = {backend_cpu_open(1, CPU_PLAIN, 0, &error),
                               backend_cpu_open(2, CPU_TUNED, 0, &error),
                               backend_cpu_open(1, CPU_SHUFFLED, 1, &error)};
    if (!form[0] || !form[1] || !form[2])
        return 1;
    while (trial_cases[cases].make)
        cases++;
    printf("1..%d\n", cases);
    for (int i = 0; i < cases; i++) {
        const struct trial_case *c = &trial_cases[i];
        int ok = run_case(form, c, &seed);
        printf("%s %d - %s: %s\n", ok ? "ok" : "not ok", i + 1, c->name, form[1]->name);
        fflush(stdout);
        failed += !ok;
    }
    for (int f = 0; f < 3; f++)
        form[f]->close(&form[f]);
    return failed > 0;
}
