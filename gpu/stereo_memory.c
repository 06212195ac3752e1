/*
 * The pipeline's buffers: taken once for the pictures' size, again when labels or levels change.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "gpu/stereo_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *take(struct stereo *s, size_t count, size_t size, int *error) {
    void *memory = *error ? NULL : s->backend->alloc(s->backend, count * size);
    if (!memory)
        *error = -ENOMEM;
    return memory;
}

#define TAKE(s, pointer, count, error) \
    ((pointer) = take(s, (size_t)(count), sizeof(*(pointer)), error))

static int say_memory(const struct stereo *s, int error, const char *what) {
    if (error)
        log_error(s->backend->name,
                  "not enough memory for %s of %dx%d; use smaller pictures or a smaller "
                  "disparity_range",
                  what, s->width, s->height);
    return error;
}

/* The right one may have a row_offset at any time. */
static int may_be_remapped(const struct stereo *s, int view) {
    return view || s->map[view];
}

static void take_slot(struct stereo *s, struct slot *slot, int *error) {
    size_t pixels = (size_t)s->width * (size_t)s->height, tally = FRAME_TALLY * (size_t)s->height;
    for (int v = 0; v < 2; v++) {
        TAKE(s, slot->raw[v], image_bytes(&s->source), error);
        if (may_be_remapped(s, v))
            TAKE(s, slot->rectified[v], pixels * (size_t)s->channels, error);
    }
    TAKE(s, slot->confidence, pixels, error);
    TAKE(s, slot->disparity, pixels, error);
    TAKE(s, slot->tally, tally, error);
    slot->host_tally = malloc(tally * sizeof(*slot->host_tally));
    if (!slot->host_tally)
        *error = -ENOMEM;
}

int stereo_memory_pictures(struct stereo *s) {
    size_t pixels = (size_t)s->width * (size_t)s->height, samples = pixels * (size_t)s->channels;
    int error = 0;
    for (int v = 0; v < 2; v++) {
        TAKE(s, s->smoothed[v], samples, &error);
        TAKE(s, s->grey[v], pixels, &error);
        TAKE(s, s->census[v], pixels, &error);
        TAKE(s, s->disparity[v], pixels, &error);
    }
    TAKE(s, s->spare, pixels, &error);
    TAKE(s, s->smooth_between, samples, &error);
    TAKE(s, s->arms, pixels, &error);
    TAKE(s, s->flags, pixels + 2 * (size_t)s->height, &error);
    TAKE(s, s->patch, pixels, &error);
    TAKE(s, s->patch_size, pixels, &error);
    TAKE(s, s->label, pixels, &error);
    TAKE(s, s->lut, COST_LUT, &error);
    TAKE(s, s->census_lut, CENSUS_LUT, &error);
    TAKE(s, s->median_weight, 256, &error);
    size_t tiles = (size_t)tile_columns(s->width) * (size_t)tile_rows(s->height);
    for (int v = 0; v < 2; v++) {
        TAKE(s, s->warm.picture[v], samples, &error);
        TAKE(s, s->warm.heat[v], tiles, &error);
    }
    TAKE(s, s->warm.change, 4 * tiles, &error);
    if (stereo_warm_open(s))
        error = -ENOMEM;
    for (int i = 0; i < s->slots; i++)
        take_slot(s, &s->at[i], &error);
    return say_memory(s, error, "pictures");
}

static void release(struct stereo *s, void *memory) {
    s->backend->release(s->backend, memory);
}

/* Intermediates of the cost stages, a label: 16-bit sums and the cost before smoothing. */
enum { APART_BYTES = 3 };

static void free_shape(struct stereo *s) {
    release(s, s->cost);
    s->cost = NULL;
    for (int l = 0; l < s->levels; l++) {
        release(s, s->level[l].cost16);
        release(s, s->level[l].classes);
        release(s, s->messages[l]);
        s->messages[l] = NULL;
    }
    release(s, s->right_messages);
    release(s, s->apart);
    s->right_messages = s->apart = NULL;
    memset(s->level, 0, sizeof(s->level));
    s->levels = 0;
}

static struct grid make_grid(int width, int height, int labels) {
    return (struct grid){
        .width = width,
        .height = height,
        .half = (width + 1) / 2,
        .labels = labels,
        .padded = (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK,
    };
}

/* Said before it is taken, where it is not the host's. */
static void say_need(const struct stereo *s, struct grid grid, int labels, int levels) {
    size_t bytes = grid_volume(&grid) *
                   (size_t)((s->right_kept ? DIRECTIONS : 0) + (s->cost_apart ? APART_BYTES : 0));
    for (int l = 0; l < levels; l++) {
        bytes += grid_volume(&grid) * (size_t)(DIRECTIONS + (l ? 2 : 1));
        grid = make_grid((grid.width + 1) / 2, (grid.height + 1) / 2, labels);
    }
    log_info(s->backend->name, "%dx%d with %d labels takes %zu MiB for cost and messages", s->width,
             s->height, labels, bytes >> 20);
}

/* What a warm start needs besides. */
static void take_kept(struct stereo *s, int *error) {
    size_t volume = grid_volume(&s->level[0].grid);
    if (s->right_kept)
        TAKE(s, s->right_messages, DIRECTIONS * volume, error);
    if (s->cost_apart)
        TAKE(s, s->apart, APART_BYTES * volume, error);
}

/* Where pictures have an odd width, the last place of every second row of a plane belongs to no
 * pixel, and belief propagation leaves it alone. Cleared once, so that planes of messages that are
 * kept can be copied whole. */
static void clear_gaps(struct stereo *s, uint8_t *messages) {
    static const uint8_t nothing[LABELS_MOST];
    const struct grid *g = &s->level[0].grid;
    size_t labels = (size_t)g->padded, volume = grid_volume(g);
    for (int y = 0; y < g->height && messages; y++)
        for (int colour = 0; colour < 2; colour++) {
            if (grid_column(colour, g->half - 1, y) < g->width)
                continue;
            size_t place = ((size_t)colour * (size_t)g->height + (size_t)y + 1) * (size_t)g->half;
            for (int r = 0; r < DIRECTIONS; r++)
                s->backend->upload(s->backend, messages + (size_t)r * volume + (place - 1) * labels,
                                   nothing, labels);
        }
}

int stereo_memory_shape(struct stereo *s, const struct params *p) {
    int labels = p->disparity_range, levels = p->bp_levels;
    int right_kept = p->warm_start && p->lr_check == LR_CHECK_BP,
        cost_apart = p->warm_start && p->cost_smoothing != COST_SMOOTHING_OFF;
    struct grid grid = make_grid(s->width, s->height, labels);
    while (levels > 1 && ((s->width - 1) >> (levels - 1)) == 0 &&
           ((s->height - 1) >> (levels - 1)) == 0)
        levels--; /* a level above a single node would repeat it */
    int same = s->levels == levels && s->level[0].grid.padded == grid.padded &&
               s->right_kept == right_kept && s->cost_apart == cost_apart;
    int error = 0;
    if (!same) { /* nothing that was computed or recorded with the old buffers holds */
        free_shape(s);
        s->params_known = s->warm.known = s->warm.displaced = 0;
        s->right_kept = right_kept;
        s->cost_apart = cost_apart;
        if (s->backend->own_memory)
            say_need(s, grid, labels, levels);
        s->levels = levels;
        TAKE(s, s->cost, grid_volume(&grid), &error);
    }
    for (int l = 0; l < levels; l++) {
        struct level *level = &s->level[l];
        level->grid = l ? make_grid((s->level[l - 1].grid.width + 1) / 2,
                                    (s->level[l - 1].grid.height + 1) / 2, labels)
                        : grid;
        if (same)
            continue;
        size_t volume = grid_volume(&level->grid);
        if (l)
            TAKE(s, level->cost16, volume, &error);
        TAKE(s, level->classes, (size_t)level->grid.width * (size_t)level->grid.height, &error);
        TAKE(s, s->messages[l], DIRECTIONS * volume, &error);
        for (int r = 0; r < DIRECTIONS; r++)
            level->message[r] = s->messages[l] ? s->messages[l] + (size_t)r * volume : NULL;
    }
    if (!same)
        take_kept(s, &error);
    if (error) {
        free_shape(s);
    } else if (!same) {
        clear_gaps(s, s->messages[0]);
        clear_gaps(s, s->right_messages);
    }
    return say_memory(s, error, "cost and messages");
}

static void forget(struct stereo *s) {
    memset(&s->warm, 0, sizeof(s->warm));
    s->right_messages = s->apart = NULL;
    memset(s->at, 0, sizeof(s->at));
    memset(s->level, 0, sizeof(s->level));
    memset(s->messages, 0, sizeof(s->messages));
    s->levels = 0;
    s->cost = NULL;
    for (int v = 0; v < 2; v++) {
        s->smoothed[v] = s->grey[v] = NULL;
        s->census[v] = NULL;
        s->disparity[v] = NULL;
        s->map[v] = NULL;
    }
    s->spare = NULL;
    s->smooth_between = s->label = s->median_weight = NULL;
    s->patch = s->patch_size = NULL;
    s->arms = NULL;
    s->flags = s->lut = s->census_lut = NULL;
}

void stereo_memory_free(struct stereo *s) {
    free_shape(s);
    stereo_warm_close(s);
    release(s, s->warm.change);
    for (int v = 0; v < 2; v++) {
        release(s, s->warm.picture[v]);
        release(s, s->warm.heat[v]);
        release(s, s->smoothed[v]);
        release(s, s->grey[v]);
        release(s, s->census[v]);
        release(s, s->disparity[v]);
        release(s, s->map[v]);
    }
    release(s, s->spare);
    release(s, s->smooth_between);
    release(s, s->arms);
    release(s, s->flags);
    release(s, s->patch);
    release(s, s->patch_size);
    release(s, s->label);
    release(s, s->lut);
    release(s, s->census_lut);
    release(s, s->median_weight);
    for (int i = 0; i < s->slots; i++) {
        struct slot *slot = &s->at[i];
        for (int v = 0; v < 2; v++) {
            release(s, slot->raw[v]);
            release(s, slot->rectified[v]);
        }
        release(s, slot->disparity);
        release(s, slot->confidence);
        release(s, slot->tally);
        free(slot->host_tally);
    }
    forget(s);
}
