/*
 * One frame's way through the pipeline: up to the backend, through the stages, back down. Where the
 * backend has lanes, two frames may be on their way: the next one's pictures go up and the last
 * one's results come down while the stages of one work. Each has a slot for what crosses.
 * SPDX-License-Identifier: MIT
 */
#include "config/clock.h"
#include "config/log.h"
#include "gpu/stereo_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Signals of a slot: its pictures are up, its results are complete, they are down. */
enum { UPLOADED, COMPUTED, DOWNLOADED, SLOT_SIGNALS };

/* Marks of a slot beside those of the stages. */
enum { MARK_UPLOADED = SLOT_MARKS - 2, MARK_DOWNLOAD = SLOT_MARKS - 1 };

static void lane(struct stereo *s, enum backend_lane lane) {
    if (s->slots > 1)
        s->backend->lane(s->backend, lane);
}

static void signal(struct stereo *s, int i) {
    if (s->slots > 1)
        s->backend->signal(s->backend, s->slot * SLOT_SIGNALS + i);
}

static void wait(struct stereo *s, int i) {
    if (s->slots > 1)
        s->backend->wait(s->backend, s->slot * SLOT_SIGNALS + i);
}

static size_t tally_bytes(const struct stereo *s) {
    return (size_t)stereo_tallied(s) * (size_t)s->height * sizeof(*s->tally);
}

/* The slot's pictures were read by the frame before the last, whose results are down already. */
static void upload(struct stereo *s, const struct frame *f) {
    const struct image *in[2] = {&f->left, &f->right};
    lane(s, LANE_UP);
    stereo_mark(s, TIME_UPLOAD);
    for (int v = 0; v < 2; v++)
        s->backend->upload(s->backend, s->at[s->slot].raw[v], in[v]->data, image_bytes(in[v]));
    stereo_mark(s, MARK_UPLOADED);
    signal(s, UPLOADED);
}

/* Results leave the buffers that the next frame's stages will write. */
static void put_aside(struct stereo *s) {
    struct backend *b = s->backend;
    const struct slot *slot = &s->at[s->slot];
    size_t pixels = (size_t)s->width * (size_t)s->height;
    for (int v = 0; v < 2; v++)
        if (stereo_is_remapped(s, v))
            b->copy(b, slot->rectified[v], s->rectified[v], pixels * (size_t)s->channels);
    b->copy(b, slot->disparity, s->disparity[0], pixels * sizeof(*slot->disparity));
    b->copy(b, slot->confidence, s->confidence, pixels);
    if (stereo_tallied(s))
        b->copy(b, slot->tally, s->tally, tally_bytes(s));
}

/* The same stages with the same arguments have the same number. */
static uint64_t number_of_stages(const struct stereo *s) {
    enum { COLD, LIGHT, IN_PLACE, DISPLACED, BY_TILES, FORMS };
    int form = s->way == WAY_LIGHT ? LIGHT : COLD;
    if (s->way == WAY_WARM)
        form = !stereo_warm_at_once(s) ? BY_TILES : s->warm.displaced ? DISPLACED : IN_PLACE;
    return (s->number * FORMS + (uint64_t)form) * SLOTS + (uint64_t)s->slot;
}

static void compute(struct stereo *s) {
    struct backend *b = s->backend;
    struct slot *slot = &s->at[s->slot];
    lane(s, LANE_COMPUTE);
    wait(s, UPLOADED);
    stereo_mark(s, TIME_RECTIFY);
    stereo_choose_way(s);
    slot->way = s->way;
    slot->share = s->warm.share;
    slot->tallied = stereo_tallied(s);
    if (s->way != WAY_STILL && (!b->begin || !b->begin(b, number_of_stages(s)))) {
        stereo_compute(s);
        if (b->end)
            b->end(b);
    }
    if (s->way != WAY_STILL)
        stereo_note_unsent(s);
    stereo_warm_done(s);
    stereo_mark(s, TIME_DOWNLOAD);
    if (s->slots > 1)
        put_aside(s);
    signal(s, COMPUTED);
}

static void download(struct stereo *s, struct frame *f) {
    struct backend *b = s->backend;
    const struct slot *slot = &s->at[s->slot];
    size_t pixels = (size_t)s->width * (size_t)s->height;
    struct image *out[2] = {&f->rect_left, &f->rect_right};
    const struct image *in[2] = {&f->left, &f->right};
    /* Unchanged pictures are copied while the stages are at work; where those have nothing to do, a
     * device is faster. */
    int aside = s->slots > 1, copied = s->way != WAY_STILL || !b->own_memory;
    lane(s, LANE_DOWN);
    wait(s, COMPUTED);
    stereo_mark(s, MARK_DOWNLOAD);
    for (int v = 0; v < 2; v++) {
        *out[v] = (struct image){out[v]->data, s->width, s->height, s->channels};
        if (stereo_is_remapped(s, v))
            b->download(b, out[v]->data, aside ? slot->rectified[v] : s->rectified[v],
                        image_bytes(out[v]));
        else if (!copied)
            b->download(b, out[v]->data, slot->raw[v], image_bytes(out[v]));
    }
    b->download(b, f->disparity, aside ? slot->disparity : s->disparity[0],
                pixels * sizeof(*f->disparity));
    b->download(b, f->confidence, aside ? slot->confidence : s->confidence, pixels);
    if (stereo_tallied(s))
        b->download(b, slot->host_tally, aside ? slot->tally : s->tally, tally_bytes(s));
    stereo_mark(s, TIME_COUNT);
    signal(s, DOWNLOADED);
    lane(s, LANE_COMPUTE);
    for (int v = 0; v < 2 && copied; v++)
        if (!stereo_is_remapped(s, v))
            memcpy(out[v]->data, in[v]->data, image_bytes(out[v]));
}

static void note_times(struct stereo *s, int slot, struct frame *f) {
    struct backend *b = s->backend;
    int first = slot * SLOT_MARKS, right = first + RIGHT_MARKS;
    for (int i = 0; i < TIME_COUNT; i++)
        f->stage_ms[i] = b->elapsed_ms(b, first + i, first + i + 1);
    f->stage_ms[TIME_UPLOAD] = b->elapsed_ms(b, first + TIME_UPLOAD, first + MARK_UPLOADED);
    f->stage_ms[TIME_DOWNLOAD] = b->elapsed_ms(b, first + MARK_DOWNLOAD, first + TIME_COUNT);
    if (s->at[slot].way == WAY_STILL) { /* nothing in between was marked */
        for (int i = TIME_SMOOTH; i < TIME_DOWNLOAD; i++)
            f->stage_ms[i] = 0;
        f->stage_ms[TIME_RECTIFY] = b->elapsed_ms(b, first + TIME_RECTIFY, first + TIME_DOWNLOAD);
        return;
    }
    if (f->params.lr_check != LR_CHECK_BP)
        return;
    f->stage_ms[TIME_SMOOTH] = b->elapsed_ms(b, first + TIME_SMOOTH, right + TIME_COST);
    for (int i = TIME_COST; i < TIME_CHECK; i++)
        f->stage_ms[i] += b->elapsed_ms(b, right + i, right + i + 1);
}

static void note_tally(struct stereo *s, const struct slot *slot, struct frame *f) {
    if (slot->way != WAY_COLD) {
        f->updated_count = stage_min(f->params.warm_iterations | 1, FRAME_TALLY);
        for (int i = 0; i < f->updated_count; i++)
            f->updated[i] = slot->share;
        return;
    }
    f->updated_count = slot->tallied;
    for (int i = 0; i < f->updated_count; i++) {
        double sum = 0;
        for (int y = 0; y < s->height; y++)
            sum += slot->host_tally[(size_t)i * s->height + y];
        f->updated[i] = (float)(sum / (2.0 * s->width * s->height));
    }
}

static int same_size(const struct image *a, const struct image *b) {
    return a->width == b->width && a->height == b->height && a->channels == b->channels;
}

/* Waits for all there is, so that settings and buffers may change. What failed is the business of
 * the frames on their way. */
static void settle(struct stereo *s) {
    int error = s->flying ? s->backend->finish(s->backend) : 0;
    if (error)
        s->failed = error;
}

int stereo_overlaps(const struct stereo *s) {
    return s->slots > 1;
}

int stereo_start(struct stereo *s, const struct params *params, struct frame *f) {
    assert(s->flying < s->slots);
    if (!same_size(&f->left, &s->source) || !same_size(&f->right, &s->source)) {
        log_error("stereo",
                  "a pair of %dx%d pictures came where the pipeline was opened for others",
                  f->left.width, f->left.height);
        return -EINVAL;
    }
    if (!s->params_known || !params_equal(params, &s->params))
        settle(s);
    int error = stereo_adopt_params(s, params);
    if (error)
        return error;
    s->slot = (s->finished + s->flying) % s->slots;
    s->flying++;
    s->at[s->slot].started_ms = clock_ms();
    f->params = *params;
    if (s->width != s->source.width || s->height != s->source.height)
        f->has_truth = 0; /* that of another picture */
    upload(s, f);
    compute(s);
    download(s, f);
    return 0;
}

/* The same frame again on the CPU backend. */
static int compute_again(struct stereo *s, struct frame *f) {
    struct params params = f->params;
    int flying = s->flying, redo = s->redo;
    s->flying = s->redo = 0;
    int error = stereo_run(s, &params, f);
    s->flying = flying;
    s->redo = redo;
    return error;
}

/* The device is lost, and with it whatever is on its way. */
static int recover(struct stereo *s, struct frame *f) {
    int error = stereo_fall_back(s);
    if (!error)
        error = compute_again(s, f);
    s->redo = error ? 0 : s->flying;
    return error;
}

int stereo_finish(struct stereo *s, struct frame *f) {
    struct backend *b = s->backend;
    int slot = s->finished % s->slots;
    assert(s->flying > 0);
    if (s->redo > 0) {
        s->redo--;
        s->flying--;
        return compute_again(s, f);
    }
    int error = s->slots > 1 ? b->finish_signal(b, slot * SLOT_SIGNALS + DOWNLOADED) : b->finish(b);
    error = error ? error : s->failed;
    s->failed = 0;
    s->flying--;
    s->finished = (s->finished + 1) % s->slots;
    if (error)
        s->warm.known = 0;
    if (error == -EIO && s->may_fall_back && !s->lost)
        return recover(s, f);
    if (s->flying > 0) /* it may be the younger frame's failure, which was issued meanwhile */
        s->failed = error;
    note_times(s, slot, f);
    note_tally(s, &s->at[slot], f);
    f->energy = NAN;
    f->compute_ms = clock_ms() - s->at[slot].started_ms;
    return error;
}

int stereo_run(struct stereo *s, const struct params *params, struct frame *f) {
    int error = stereo_start(s, params, f);
    return error ? error : stereo_finish(s, f);
}
