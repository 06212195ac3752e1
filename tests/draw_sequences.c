/*
 * usage: draw_sequences DIR
 * Sequences of a rig that moves, with exact truth: the synth source's desk and a furnished room,
 * both hand-held, and a street at 10 m/s, 30 frames a second; in each something moves by itself.
 * DIR/NAME gets the pictures NOISE/left/000000.png, NOISE/right/000000.png, ... for three kinds of
 * cameras (see cameras), calibration.txt in KITTI's form, and truth.i16 with four planes a frame:
 * disparities, the way back to the last frame, u and v, all in 1/16 px, and flags (see SEEN).
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/desk.h"
#include "capture/synth/render.h"
#include "capture/synth/textures.h"
#include "image/frame.h"
#include "image/picture.h"
#include "training/scene_lot.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 480, HEIGHT = 360, PIXELS = WIDTH * HEIGHT, FRAMES = 11, MOVERS = 4 };
enum { SEEN = 1, MOVES = 2 };  /* flags: in the last frame, too; by itself */
#define OWN_SEEDS (3ull << 40) /* no training draws from these */

/* exposures: of how many moments in half a frame a picture is the mean. step: every third frame is
 * as much brighter. */
static const struct cameras {
    const char *name;
    float sigma, step, rows_off;
    int exposures;
} cameras[] = {{"clean", 0, 0, 0, 1}, {"noise", 2, 0, 0, 1}, {"worse", 2, 0.1f, 0.5f, 3}};

/* The first ones are in the order of enum painting, as the desk has them. */
static const enum painting paintings[] = {
    WOOD,   PRINT,  GLAZE,  SPINES, SPECKLE, OUTSIDE, SPECKLE, OUTSIDE, WOOD,  STRIPES,
    BRICKS, BRICKS, CHECKS, CHECKS, STRIPES, SPINES,  PRINT,   WAVES,   WAVES, WAVES};
enum { PHOTOGRAPHS = 9, DRAWN = 8, WAVY = 3 };

/* Solids that move by themselves, metres a frame. */
static struct mover {
    int first, end;
    vec step;
} movers[MOVERS];
static int moving;

static void note_mover(const struct lot *r, int first, vec step) {
    movers[moving++] = (struct mover){first, r->scene->solids, step};
}

static void draw_traffic(struct lot *r) {
    static const struct {
        float x, z;
        vec step;
    } cars[] = {{-2.6f, 15, {0, 0, -0.3f}}, {1.2f, 8.5f, {0, 0, 0.4f}}, {5, 13, {-0.3f, 0, 0.1f}}};
    draw_street(r);
    struct place w = {0, r->scene->solid[0].centre.y}; /* the road */
    for (size_t i = 0; i < G_N_ELEMENTS(cars); i++) {
        int first = r->scene->solids;
        add_car(r, &w, cars[i].x, cars[i].z);
        note_mover(r, first, cars[i].step);
    }
}

static void draw_busy_home(struct lot *r) {
    draw_home(r);
    for (int i = 0; i < 3; i++) {
        int first = r->scene->solids, side = i - 1;
        float z = 1.3f + 0.3f * (float)i;
        float k = 0.2f * z * r->wide;
        vec at = vec_of(0.5f * z * r->wide * (float)side, 0.05f * (float)side, z);
        add_turned(r, i == 1 ? BALL : BOX, at, 0.4f * (float)side, 0, 0,
                   vec_of(0.7f * k, k, 0.5f * k), ROUGH);
        note_mover(r, first, vec_of(-0.03f * (float)side, 0.008f, i == 1 ? -0.03f : 0.01f));
    }
}

static const struct kind traffic = {draw_traffic, 40, 40, 1, 0},
                         busy_home = {draw_busy_home, 40, 40, 0, 0};
static const struct sequence {
    const char *name;
    const struct kind *kind; /* NULL: the desk */
    uint32_t seed;
    float turns, sways, speed; /* radians, metres, metres a frame */
} sequences[] = {{"desk", NULL, 5, 0.035f, 0.02f, 0},
                 {"street", &traffic, 407, 0.006f, 0.01f, 10 / 30.0f},
                 {"room", &busy_home, 511, 0.03f, 0.025f, 0}};

struct drawing {
    const struct sequence *sequence;
    struct desk *desk;
    struct scene first;
    const uint8_t *pixels;
};

static void shift_solid(struct solid *s, vec by) {
    s->centre = plus(s->centre, by, 1);
    for (float *row = s->local; row < s->local + 12; row += 4)
        row[3] -= dot(vec_of(row[0], row[1], row[2]), by);
}

/* A hand's or a car's sway: one of six sines of periods of 17 to 27 frames, which begin apart. */
static float sway(const struct drawing *d, int axis, float t) {
    return sinf(6.2831853f * (t / (17 + 2 * (float)axis) + noise_hash(axis, 0, d->sequence->seed)));
}

/* The scene at the time t, in frames, as the moved rig sees it. */
static void scene_at(struct drawing *d, float t, struct scene *s) {
    const struct sequence *q = d->sequence;
    float turn[9], before[9];
    if (d->desk)
        desk_scene(d->desk, s, 100 + lrintf(18 * t));
    else
        *s = d->first;
    for (int i = 0; i < moving; i++)
        for (int k = movers[i].first; k < movers[i].end; k++)
            shift_solid(&s->solid[k], scaled(movers[i].step, t));
    vec eye = vec_of(q->sways * sway(d, 0, t), q->sways * sway(d, 1, t),
                     q->sways * sway(d, 2, t) + q->speed * t);
    eye = turned(s, eye);
    for (int i = 0; i < s->solids; i++)
        shift_solid(&s->solid[i], scaled(eye, -1));
    rotation(turn, q->turns * sway(d, 3, t), 0.7f * q->turns * sway(d, 4, t),
             0.5f * q->turns * sway(d, 5, t));
    memcpy(before, s->turn, sizeof(before));
    for (int i = 0; i < 9; i++)
        s->turn[i] = before[i / 3 * 3] * turn[i % 3] + before[i / 3 * 3 + 1] * turn[3 + i % 3] +
                     before[i / 3 * 3 + 2] * turn[6 + i % 3];
}

/* Marks what moves by itself: solids whose way from the first one is not what it was. */
static void mark_moving(const struct drawing *d, const struct scene *s, const struct scene *before,
                        int16_t *flags) {
    uint8_t list[SOLIDS];
    int count = 0;
    for (int i = 0; i < s->solids; i++) {
        vec now = plus(s->solid[i].centre, s->solid[0].centre, -1),
            was = plus(before->solid[i].centre, before->solid[0].centre, -1),
            way = plus(now, was, -1);
        if (dot(way, way) > 1e-6f)
            list[count++] = (uint8_t)i;
    }
    for (int i = 0; i < PIXELS; i++) {
        vec way = ray_of(s, 0, (float)(i % WIDTH), (float)(i / WIDTH)), eye = eye_of(s, 0);
        struct hit hit = trace(s, d->pixels, list, count, eye, way, 0.01f, 1e9f, 0, -1);
        if (hit.solid >= 0 &&
            trace(s, d->pixels, NULL, s->solids, eye, way, 0.01f, 0.9999f * hit.t, 1, -1).solid < 0)
            flags[i] |= MOVES;
    }
}

/* Appends a frame's planes. */
static int write_truth(struct drawing *d, int t, FILE *out) {
    static uint8_t unused[2][3 * PIXELS], seen[PIXELS];
    static int16_t planes[4][PIXELS];
    static struct scene now, before;
    struct image images[] = {{unused[0], WIDTH, HEIGHT, 3}, {unused[1], WIDTH, HEIGHT, 3}};
    struct render render = {.scene = &now,
                            .pixels = d->pixels,
                            .image = {&images[0], &images[1]},
                            .truth = planes[0],
                            .mask = seen};
    scene_at(d, (float)t, &now);
    scene_at(d, (float)t - 1, &before);
    scene_render(&render, (int)g_get_num_processors());
    render.later = &before;
    render.truth = planes[1];
    scene_render(&render, (int)g_get_num_processors());
    for (int i = 0; i < PIXELS; i++)
        planes[3][i] = seen[i] ? SEEN : 0;
    mark_moving(d, &now, &before, planes[3]);
    return fwrite(planes, sizeof(planes), 1, out) != 1;
}

/* Writes one camera's picture of the sum of exposures. */
static int write_picture(const struct cameras *c, const int *sum, int t, int side,
                         const char *folder) {
    static uint8_t rgb[3 * PIXELS];
    float gain = (1 + (t % 3 == 2 ? c->step : 0)) / (float)c->exposures;
    for (int i = 0; i < 3 * PIXELS; i++) {
        float noise = -6;
        for (int k = 0; k < 12 && c->sigma > 0; k++)
            noise += noise_hash(i, k, (uint32_t)(2 * t + side));
        rgb[i] = (uint8_t)CLAMP(gain * (float)sum[i] + c->sigma * noise + 0.5f, 0, 255);
    }
    g_autofree char *name = g_strdup_printf("%06d.png", t);
    g_autofree char *in = g_build_filename(folder, c->name, side ? "right" : "left", NULL);
    g_autofree char *path = g_build_filename(in, name, NULL);
    struct image image = {rgb, WIDTH, HEIGHT, 3};
    return g_mkdir_with_parents(in, 0777) || picture_write(path, &image);
}

static int write_pair(struct drawing *d, const struct cameras *c, int t, const char *folder) {
    static uint8_t pixels[6 * PIXELS];
    static int sum[6 * PIXELS]; /* left, then right */
    static struct scene scene;
    struct image images[] = {{pixels, WIDTH, HEIGHT, 3}, {pixels + 3 * PIXELS, WIDTH, HEIGHT, 3}};
    struct render render = {
        .scene = &scene, .pixels = d->pixels, .image = {&images[0], &images[1]}};
    memset(sum, 0, sizeof(sum));
    for (int k = 0; k < c->exposures; k++) {
        scene_at(d, (float)t + ((float)k - 0.5f * (float)(c->exposures - 1)) / 6, &scene);
        scene.rows_off = c->rows_off;
        scene_render(&render, (int)g_get_num_processors());
        for (int i = 0; i < 6 * PIXELS; i++)
            sum[i] += pixels[i];
    }
    return write_picture(c, sum, t, 0, folder) || write_picture(c, sum + 3 * PIXELS, t, 1, folder);
}

static int write_calibration(struct drawing *d, const char *folder) {
    static struct scene s;
    scene_at(d, 0, &s);
    g_autofree char *path = g_build_filename(folder, "calibration.txt", NULL);
    g_autofree char *text =
        g_strdup_printf("P0: %g 0 %g 0 0 %g %g 0 0 0 1 0\nP1: %g 0 %g %g 0 %g %g 0 0 0 1 0\n", s.f,
                        s.cx, s.f, s.cy, s.f, s.cx, -s.f * s.base, s.f, s.cy);
    return !g_file_set_contents(path, text, -1, NULL);
}

static int draw_sequence(const struct sequence *q, const struct textures *textures,
                         const char *folder) {
    static struct drawing d;
    d = (struct drawing){.sequence = q, .pixels = textures->pixels};
    moving = 0;
    if (q->kind)
        draw_scene(&d.first, OWN_SEEDS + q->seed, textures, WIDTH, HEIGHT, q->kind, 0);
    else if (!(d.desk = desk_open(WIDTH, HEIGHT, 0, 64, 0, q->seed, 1)))
        return 1;
    d.first.rows_off = d.first.zero = 0;
    g_autofree char *path = g_build_filename(folder, "truth.i16", NULL);
    FILE *truth = g_mkdir_with_parents(folder, 0777) ? NULL : fopen(path, "wb");
    int error = !truth || write_calibration(&d, folder);
    for (int t = 0; t < FRAMES && !error; t++) {
        error = write_truth(&d, t, truth);
        for (size_t i = 0; i < G_N_ELEMENTS(cameras) && !error; i++)
            error = write_pair(&d, &cameras[i], t, folder);
    }
    desk_close(d.desk);
    return (truth && fclose(truth)) || error;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: draw_sequences DIR\n");
        return 2;
    }
    g_autofree uint8_t *pixels =
        textures_paint(paintings, G_N_ELEMENTS(paintings), 9, (int)g_get_num_processors());
    struct textures textures = {pixels, PHOTOGRAPHS, DRAWN, WAVY};
    int error = pixels == NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(sequences) && !error; i++) {
        g_autofree char *folder = g_build_filename(argv[1], sequences[i].name, NULL);
        error = draw_sequence(&sequences[i], &textures, folder);
    }
    return error;
}
