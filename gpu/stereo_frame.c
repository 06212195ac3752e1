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

static void lane(struct stereo *s, enum backend_lane lane) {
    if (s->slots > 1)
        s->backend->lane(s->backend, lane);
}

static size_t tally_bytes(const struct stereo *s) {
    return (size_t)stereo_tallied(s) * (size_t)s->height * sizeof(*s->at[0].tally);
}

/* Those of the last frame that was computed. */
static void download_latest(struct stereo *s, struct frame *f) {
    struct backend *b = s->backend;
    const struct slot *slot = &s->at[s->latest];
    size_t pixels = (size_t)s->width * (size_t)s->height;
    b->download(b, f->disparity, slot->disparity, pixels * sizeof(*f->disparity));
    b->download(b, f->confidence, slot->confidence, pixels);
}

/* Where nothing moved before nothing may move again: the last results come down while the pictures
 * go up. If they are not the frame's, they may be half overwritten by then, and all of it is
 * replaced. Returns whether that was done. */
static int guess_still(struct stereo *s, struct frame *f) {
    int guess = s->slots > 1 && s->warm.known && s->way == WAY_STILL;
    if (guess) {
        lane(s, LANE_DOWN);
        download_latest(s, f);
    }
    return guess;
}

/* The slot's pictures were read by the frame before the last, whose results are down already. */
static void upload(struct stereo *s, const struct frame *f) {
    const struct image *in[2] = {&f->left, &f->right};
    lane(s, LANE_UP);
    stereo_mark(s, TIME_UPLOAD);
    for (int i = 0; i < 2; i++) {
        int v = i ^ stereo_first_view(&s->params);
        s->backend->upload(s->backend, s->at[s->slot].raw[v], in[v]->data, image_bytes(in[v]));
        if (i)
            stereo_mark(s, MARK_UPLOADED);
        stereo_signal(s, UPLOADED + v);
    }
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
    stereo_choose_way(s);
    slot->way = s->way;
    slot->share = s->warm.share;
    slot->tallied = stereo_tallied(s);
    if (s->way != WAY_STILL) {
        /* The last frame stood still: its results, which are this slot's, may be on their way. */
        if (s->slots > 1 && s->latest == s->slot && s->at[!s->slot].way == WAY_STILL)
            b->wait(b, slot_signal(!s->slot, DOWNLOADED));
        s->latest = s->slot;
        if (!b->begin || !b->begin(b, number_of_stages(s))) {
            stereo_compute(s);
            if (b->end)
                b->end(b);
        }
        stereo_note_unsent(s);
    }
    stereo_warm_done(s);
    stereo_mark(s, TIME_DOWNLOAD);
    stereo_signal(s, COMPUTED);
}

static void download_rectified(struct stereo *s, struct frame *f) {
    struct image *out[2] = {&f->rect_left, &f->rect_right};
    const struct image *in[2] = {&f->left, &f->right};
    for (int i = 0; i < 2; i++) {
        int v = i ^ stereo_first_view(&s->params);
        *out[v] = *in[v];
        if (!stereo_is_remapped(s, v))
            continue;
        *out[v] = (struct image){f->rectified[v], s->width, s->height, s->channels};
        stereo_wait(s, RECTIFIED + v);
        s->backend->download(s->backend, out[v]->data, s->at[s->slot].rectified[v],
                             image_bytes(out[v]));
    }
}

/* Everything as soon as it is what it will be. */
static void download(struct stereo *s, struct frame *f, int guessed) {
    struct backend *b = s->backend;
    const struct slot *slot = &s->at[s->slot];
    size_t pixels = (size_t)s->width * (size_t)s->height,
           upper = (size_t)s->width * (size_t)stereo_upper_rows(s);
    lane(s, LANE_DOWN);
    download_rectified(s, f);
    if (s->way != WAY_STILL) {
        stereo_wait(s, CONFIDENT);
        b->download(b, f->confidence, slot->confidence, pixels);
    }
    if (s->way != WAY_STILL && upper > 0) {
        stereo_wait(s, UPPER_PART);
        b->download(b, f->disparity, slot->disparity, upper * sizeof(*f->disparity));
    }
    stereo_wait(s, COMPUTED);
    stereo_mark(s, MARK_DOWNLOAD);
    if (s->way != WAY_STILL)
        b->download(b, f->disparity + upper, slot->disparity + upper,
                    (pixels - upper) * sizeof(*f->disparity));
    else if (!guessed)
        download_latest(s, f);
    if (stereo_tallied(s))
        b->download(b, slot->host_tally, slot->tally, tally_bytes(s));
    stereo_mark(s, TIME_COUNT);
    stereo_signal(s, DOWNLOADED);
    lane(s, LANE_COMPUTE);
}

/* From the first of a view's marks to the next. */
static double view_ms(struct stereo *s, int slot, int view, enum stage_time i) {
    int mark = slot * SLOT_MARKS + view * RIGHT_MARKS + (int)i;
    return s->backend->elapsed_ms(s->backend, mark, mark + 1);
}

/* What is done with pictures: each view's on its own, but where a warm start looked at both
 * first. */
static void note_picture_times(struct stereo *s, int slot, struct frame *f) {
    struct backend *b = s->backend;
    int marks = slot * SLOT_MARKS, first = stereo_first_view(&f->params), second = !first;
    f->stage_ms[TIME_RECTIFY] = view_ms(s, slot, first, TIME_RECTIFY) +
                                (f->params.warm_start ? 0 : view_ms(s, slot, second, TIME_RECTIFY));
    f->stage_ms[TIME_SMOOTH] =
        b->elapsed_ms(b, marks + first * RIGHT_MARKS + TIME_SMOOTH, marks + MARK_VIEW_DONE) +
        b->elapsed_ms(b, marks + second * RIGHT_MARKS + TIME_SMOOTH,
                      marks + first * RIGHT_MARKS + TIME_COST);
}

static void note_times(struct stereo *s, int slot, struct frame *f) {
    struct backend *b = s->backend;
    int marks = slot * SLOT_MARKS, first = stereo_first_view(&f->params);
    memset(f->stage_ms, 0, sizeof(f->stage_ms));
    f->stage_ms[TIME_UPLOAD] = b->elapsed_ms(b, marks + TIME_UPLOAD, marks + MARK_UPLOADED);
    f->stage_ms[TIME_DOWNLOAD] = b->elapsed_ms(b, marks + MARK_DOWNLOAD, marks + TIME_COUNT);
    if (s->at[slot].way == WAY_STILL) { /* nothing in between was marked */
        f->stage_ms[TIME_RECTIFY] =
            b->elapsed_ms(b, marks + first * RIGHT_MARKS + TIME_RECTIFY, marks + TIME_DOWNLOAD);
        return;
    }
    note_picture_times(s, slot, f);
    for (int i = TIME_COST; i < TIME_DOWNLOAD; i++)
        f->stage_ms[i] = view_ms(s, slot, 0, (enum stage_time)i);
    s->bp_ms = f->stage_ms[TIME_BP];
    for (int i = TIME_COST; i < TIME_CHECK && first == 1; i++) /* the right view has a run, too */
        f->stage_ms[i] += view_ms(s, slot, 1, (enum stage_time)i);
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
    int guessed = guess_still(s, f);
    upload(s, f);
    compute(s);
    download(s, f, guessed);
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
    int error = s->slots > 1 ? b->finish_signal(b, slot_signal(slot, DOWNLOADED)) : b->finish(b);
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
