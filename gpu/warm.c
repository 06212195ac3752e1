/*
 * The warm start's decision, on the host: which tiles are hot, and whether the frame starts anew.
 * See docs/METHODS.md.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* HOT_FRAMES: so long a tile stays hot after its last change, for its messages to settle.
 * Old messages are no good start where the samples of more than one tile in MOVED_SHARE differ by
 * more than MOVED_LEVELS in the mean, or those of one in NEW_SHARE by NEW_LEVELS. A pixel of
 * movement in textured pictures stays below both (docs/METHODS.md).
 * WARM_RUN: messages are handed on so often while the picture moves; more would add up what moved
 * away from under them. It moves if blocks of samples differ by MOVING_LEVELS in the mean; the
 * noise of a sensor does less. */
enum { HOT_FRAMES = 8, WARM_RUN = 2, MOVING_LEVELS = 1 };
enum { MOVED_LEVELS = 16, MOVED_SHARE = 8, NEW_LEVELS = 32, NEW_SHARE = 64 };

int stereo_warm_open(struct stereo *s) {
    struct warm *w = &s->warm;
    w->columns = tile_columns(s->width);
    w->rows = tile_rows(s->height);
    size_t tiles = (size_t)w->columns * (size_t)w->rows;
    w->host_change = malloc(4 * tiles * sizeof(*w->host_change));
    w->host_heat = calloc(3 * tiles, 1);
    w->sums = malloc(2 * (size_t)(w->columns + 1) * (size_t)(w->rows + 1) * sizeof(*w->sums));
    return w->host_change && w->host_heat && w->sums ? 0 : -ENOMEM;
}

void stereo_warm_close(struct stereo *s) {
    free(s->warm.host_change);
    free(s->warm.host_heat);
    free(s->warm.sums);
}

/* Changed tiles above and left of each corner, so that a window takes four look-ups. */
static void sum_changed(struct warm *w, int view) {
    int columns = w->columns, stride = columns + 1;
    uint32_t *sums = w->sums + (size_t)view * (size_t)stride * (size_t)(w->rows + 1);
    const uint32_t *change = w->host_change + 2 * (size_t)view * (size_t)columns * (size_t)w->rows;
    memset(sums, 0, (size_t)stride * sizeof(*sums));
    for (int y = 0; y < w->rows; y++) {
        uint32_t in_row = 0;
        uint32_t *line = sums + (size_t)(y + 1) * (size_t)stride;
        line[0] = 0;
        for (int x = 0; x < columns; x++) {
            in_row += change[2 * (y * columns + x)] > 0;
            line[x + 1] = line[x + 1 - stride] + in_row;
        }
    }
}

/* A window in pixels around a tile, both ends included. */
struct window {
    int left, right, above, below;
};

static int any_changed(const struct warm *w, int view, int column, int row, struct window around) {
    int stride = w->columns + 1;
    const uint32_t *sums = w->sums + (size_t)view * (size_t)stride * (size_t)(w->rows + 1);
    int width = w->columns * HEAT_WIDTH, height = w->rows * HEAT_HEIGHT;
    int left = column * HEAT_WIDTH - around.left,
        right = (column + 1) * HEAT_WIDTH - 1 + around.right;
    int top = row * HEAT_HEIGHT - around.above, bottom = (row + 1) * HEAT_HEIGHT - 1 + around.below;
    if (right < 0 || left >= width)
        return 0;
    int x0 = stage_max(left, 0) / HEAT_WIDTH, x1 = stage_min(right, width - 1) / HEAT_WIDTH + 1;
    int y0 = stage_max(top, 0) / HEAT_HEIGHT, y1 = stage_min(bottom, height - 1) / HEAT_HEIGHT + 1;
    return sums[y1 * stride + x1] - sums[y0 * stride + x1] - sums[y1 * stride + x0] +
               sums[y0 * stride + x0] >
           0;
}

/* How far from a pixel its data cost and edges look, for the side of the base picture. */
static struct window reach_of(const struct params *p) {
    int x = 5 + (int)ceil(3 * p->smooth_sigma), y = x; /* census 4, the edge of a neighbour 1 */
    if (p->cost_smoothing == COST_SMOOTHING_GAUSSIAN) {
        x += (int)ceil(3 * p->cost_sigma);
        y += (int)ceil(3 * p->cost_sigma);
    } else if (p->cost_smoothing == COST_SMOOTHING_CROSS) {
        x += p->cross_rounds * (p->cross_length + 1);
        y += p->cross_rounds * (p->cross_height + 1);
    }
    return (struct window){x, x, y, y};
}

/* The side of the other picture: moved by every disparity. */
static struct window reach_other(const struct params *p, struct window own, int base) {
    int least = p->min_disparity, most = least + p->disparity_range - 1;
    own.left += base ? -least : most;
    own.right += base ? most : -least;
    return own;
}

static int hottest_around(const struct warm *w, const uint8_t *heat, int column, int row) {
    int most = 0;
    for (int y = stage_max(row - 1, 0); y <= stage_min(row + 1, w->rows - 1); y++)
        for (int x = stage_max(column - 1, 0); x <= stage_min(column + 1, w->columns - 1); x++)
            most = stage_max(most, heat[y * w->columns + x]);
    return most;
}

/* Returns the number of hot tiles. Messages of a hot tile change those of its neighbours. */
static int heat_view(struct stereo *s, int base) {
    struct warm *w = &s->warm;
    struct window own = reach_of(&s->params), other = reach_other(&s->params, own, base);
    size_t tiles = (size_t)w->columns * (size_t)w->rows;
    uint8_t *heat = w->host_heat + (size_t)base * tiles, *before = w->host_heat + 2 * tiles;
    int hot = 0;
    memcpy(before, heat, tiles);
    for (int row = 0; row < w->rows; row++)
        for (int column = 0; column < w->columns; column++) {
            int changed =
                any_changed(w, base, column, row, own) || any_changed(w, !base, column, row, other);
            int heated =
                changed ? HOT_FRAMES : stage_max(hottest_around(w, before, column, row) - 1, 0);
            heat[row * w->columns + column] = (uint8_t)heated;
            hot += heated > 0;
        }
    return hot;
}

/* The two cases that need no look at single tiles come first: nothing has changed for long, and
 * everything has. */
static int heat_views(struct stereo *s, int views) {
    struct warm *w = &s->warm;
    int tiles = w->columns * w->rows, changed = 0, hot = 0;
    for (int i = 0; i < 2 * tiles; i++)
        changed += w->host_change[2 * i] > 0;
    if (changed == 0 && w->share == 0)
        return 0;
    if (changed == 2 * tiles) {
        memset(w->host_heat, HOT_FRAMES, 2 * (size_t)tiles);
        return views * tiles;
    }
    sum_changed(w, 0);
    sum_changed(w, 1);
    for (int v = 0; v < views; v++)
        hot += heat_view(s, v);
    return hot;
}

/* Whether so many tiles are new that the frame shows something else. */
static int scene_is_new(const struct stereo *s) {
    const struct warm *w = &s->warm;
    int tiles = w->columns * w->rows, moved = 0, fresh = 0;
    for (int i = 0; i < 2 * tiles; i++) {
        int column = i % tiles % w->columns, row = i % tiles / w->columns;
        int width = stage_min(s->width - column * HEAT_WIDTH, HEAT_WIDTH),
            height = stage_min(s->height - row * HEAT_HEIGHT, HEAT_HEIGHT);
        uint32_t samples = (uint32_t)(width * height * s->channels);
        moved += w->host_change[2 * i] > MOVED_LEVELS * samples;
        fresh += w->host_change[2 * i] > NEW_LEVELS * samples;
    }
    return MOVED_SHARE * moved > 2 * tiles || NEW_SHARE * fresh > 2 * tiles;
}

void stereo_warm_place(struct stereo *s) {
    struct backend *b = s->backend;
    size_t volume = grid_volume(&s->level[0].grid);
    uint8_t *const views[2] = {s->messages[0], s->right_messages};
    for (int v = 0; v < 2 && s->warm.displaced; v++)
        for (int r = 0; r < DIRECTIONS && views[v]; r++) {
            uint8_t *message = views[v] + (size_t)r * volume;
            b->copy(b, message + volume / 2, message, volume / 2);
        }
    s->warm.displaced = 0;
}

static int is_moving(const struct stereo *s) {
    const struct warm *w = &s->warm;
    uint64_t sum = 0, samples = 2 * (uint64_t)s->width * (uint64_t)s->height;
    for (int i = 0; i < 2 * w->columns * w->rows; i++)
        sum += w->host_change[2 * i + 1];
    return sum > MOVING_LEVELS * samples * (uint64_t)s->channels;
}

void stereo_warm_compare(struct stereo *s, int view) {
    struct warm *w = &s->warm;
    size_t tiles = (size_t)w->columns * (size_t)w->rows;
    struct change_args a = {stereo_picture(s, view),
                            w->picture[view],
                            w->change + 2 * (size_t)view * tiles,
                            s->width,
                            s->height,
                            s->channels};
    if (w->known)
        stereo_stage(s, STAGE_change, &a, w->columns, w->rows);
}

static int fetch_change(struct stereo *s) {
    struct warm *w = &s->warm;
    struct backend *b = s->backend;
    size_t tiles = (size_t)w->columns * (size_t)w->rows;
    b->download(b, w->host_change, w->change, 4 * tiles * sizeof(*w->change));
    if (s->slots == 1)
        return b->finish(b);
    b->signal(b, SIGNAL_CHANGE); /* results of the last frame may still be on their way down */
    return b->finish_signal(b, SIGNAL_CHANGE);
}

/* A warm frame's half-steps: the messages of colour 1 are what it starts from, and colour 0 sends
 * last. */
int stereo_warm_iterations(const struct stereo *s) {
    return s->params.warm_iterations | 1;
}

int stereo_iterations(const struct stereo *s, int base, int level) {
    int iterations = scaling_iterations(&s->params, level);
    if (base && level == 0 && s->params.right_iterations >= 0)
        iterations = stage_min(iterations, s->params.right_iterations);
    return s->way == WAY_LIGHT ? stage_min(iterations, stereo_warm_iterations(s)) : iterations;
}

int stereo_warm_at_once(const struct stereo *s) {
    return s->backend->propagate && s->warm.share >= 1;
}

void stereo_warm_done(struct stereo *s) {
    s->warm.known = s->params.warm_start && !s->failed;
    if (s->way == WAY_WARM && stereo_warm_at_once(s))
        s->warm.displaced ^= stereo_warm_iterations(s) / 2 & 1;
}

int stereo_warm_choose(struct stereo *s) {
    struct warm *w = &s->warm;
    struct backend *b = s->backend;
    size_t tiles = (size_t)w->columns * (size_t)w->rows,
           samples = (size_t)s->width * (size_t)s->height * (size_t)s->channels;
    int views = s->params.lr_check == LR_CHECK_BP ? 2 : 1, hot = 0, known = w->known;
    w->known = 0; /* until this frame is done */
    int error = known ? fetch_change(s) : 0;
    if (error)
        return error;
    s->way = known && !scene_is_new(s) ? WAY_WARM : WAY_COLD;
    w->age += s->way == WAY_WARM && is_moving(s);
    if (s->way == WAY_WARM && w->age > WARM_RUN)
        s->way = WAY_LIGHT;
    if (s->way != WAY_WARM) {
        w->age = w->displaced = 0;
        w->share = 1;
        memset(w->host_heat, HOT_FRAMES, 2 * tiles);
    } else {
        hot = heat_views(s, views);
        w->share = (float)hot / (float)((size_t)views * tiles);
    }
    if (s->way == WAY_WARM && !hot)
        s->way = WAY_STILL;
    for (int v = 0; v < views && s->way == WAY_WARM; v++)
        b->upload(b, w->heat[v], w->host_heat + (size_t)v * tiles, tiles);
    if (s->way == WAY_WARM && !stereo_warm_at_once(s))
        stereo_warm_place(s);
    for (int v = 0; v < 2 && s->way != WAY_STILL; v++)
        b->copy(b, w->picture[v], stereo_picture(s, v), samples);
    return 0;
}
