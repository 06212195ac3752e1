/*
 * See wave.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/wave.h"

#include "gpu/stages/stage.h"

enum { MAX_BANDS = 64 };

struct wave {
    wave_row *row;
    const void *context;
    int height, bands;
    int first, count; /* half-steps that go together */
    int borders;      /* the second phase */
};

/* Rows first(t)..last(t)-1 of half-step t, t = 0..count-1, where first and last move by slopes
 * a half-step. */
static void go_down(const struct wave *w, int first, int first_slope, int last, int last_slope,
                    void *scratch) {
    int end = last + w->count * (1 + (last_slope > 0));
    for (int front = first - w->count; front < end; front++)
        for (int t = 0; t < w->count; t++) {
            int y = front - t;
            if (y >= first + t * first_slope && y < last + t * last_slope)
                w->row(w->context, w->first + t, y, scratch);
        }
}

static int band_row(const struct wave *w, int band) {
    return (int)((int64_t)w->height * band / w->bands);
}

/* Each band shrinks by a row a half-step at its borders, so that no two touch; then the wedges
 * between them are filled. */
static void run_bands(void *context, int first, int last, void *scratch) {
    const struct wave *w = context;
    for (int i = first; i < last; i++) {
        if (w->borders)
            go_down(w, band_row(w, i + 1), -1, band_row(w, i + 1), 1, scratch);
        else
            go_down(w, band_row(w, i), i > 0, band_row(w, i + 1), -(i + 1 < w->bands), scratch);
    }
}

void wave_run(struct thread_pool *pool, int height, int steps, int together, wave_row *row,
              const void *context) {
    int threads = thread_pool_threads(pool),
        bands = stage_min(2 * threads, height / (4 * together));
    struct wave w = {.row = row,
                     .context = context,
                     .height = height,
                     .bands = threads == 1 ? 1 : stage_clamp(bands, 1, MAX_BANDS)};
    for (; w.first < steps; w.first += w.count) {
        w.count = stage_min(steps - w.first, together);
        w.borders = 0;
        thread_pool_run(pool, w.bands, 1, run_bands, &w);
        w.borders = 1;
        if (w.bands > 1)
            thread_pool_run(pool, w.bands - 1, 1, run_bands, &w);
    }
}
