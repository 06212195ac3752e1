/*
 * Parity of whole frames: every variant of every backend gives the maps, rectified pictures,
 * labels, costs, energies, probes and shares of updates of the plain CPU variant: settings drawn
 * from the table of parameters, sets of settings in turn on one pipeline, frames that overlap.
 * usage: parity_frames [--tap] [--backend VARIANT] [--seed N]
 * [--small] Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/pass_case.h"
#include "tests/scene.h"

enum {
    MAX_FRAMES = 24,
    PROBES = 4,
    ORDERS = 5,             /* of the shuffled backend, where frames overlap */
    SEQUENCES = 6,          /* of any settings, of each size */
    EMULATED_SEQUENCES = 2, /* of these on the emulated GPU, which takes most of the time */
};

/* Frames one after the other on one pipeline. */
struct sequence {
    int width, height, channels, count;
    bool blobs; /* pictures: patches of like colour, or scene_fill()'s */
    struct params params[MAX_FRAMES];
    uint64_t seed;
    struct rectify_map maps[2]; /* point NULL: none */
};

/* Hashes of what became of a frame. */
enum part {
    PART_DISPARITY,
    PART_CONFIDENCE,
    PART_LEFT,
    PART_RIGHT,
    PART_UPDATES,
    OVERLAPPING_PARTS, /* what lies in the frame; the rest is asked of the pipeline */
    PART_ENERGY = OVERLAPPING_PARTS,
    PART_LABELS,
    PART_COSTS,
    PART_PROBES,
    PARTS
};
static const char *const part_names[PARTS] = {"disparity or motion",
                                              "confidence",
                                              "left rectified picture",
                                              "right rectified picture",
                                              "share of updates",
                                              "energy",
                                              "labels",
                                              "costs",
                                              "probes"};

struct outcome {
    uint64_t hash[PARTS];
};

static uint64_t hash_of(uint64_t hash, const void *data, size_t bytes) { /* FNV-1a */
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

/* ---- what became of a frame */

static void note_frame(struct outcome *o, const struct frame *f) {
    size_t pixels = (size_t)f->rect_left.width * (size_t)f->rect_left.height;
    o->hash[PART_DISPARITY] = f->params->mode == MODE_MOTION
                                  ? hash_of(1, f->motion, 2 * pixels * sizeof(*f->motion))
                                  : hash_of(1, f->disparity, pixels * sizeof(*f->disparity));
    o->hash[PART_CONFIDENCE] = hash_of(1, f->confidence, pixels);
    o->hash[PART_LEFT] = hash_of(1, f->rect_left.data, image_bytes(&f->rect_left));
    o->hash[PART_RIGHT] = hash_of(1, f->rect_right.data, image_bytes(&f->rect_right));
    o->hash[PART_UPDATES] =
        hash_of(1, f->updated, (size_t)f->updated_count * sizeof(f->updated[0]));
}

/* A copy of what lies behind an address of the pipeline's graph; free it. */
static void *fetch(struct livestereo *s, const void *address, size_t bytes) {
    void *copy = malloc(bytes);
    assert(copy);
    int error = s->backend->copy(s->backend, copy, graph_address(s->graph, address, 0), bytes);
    assert(!error);
    return copy;
}

/* Costs of the labels that tiles keep, block by block: other bytes nobody writes. */
static uint64_t hash_of_kept_costs(struct livestereo *s) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    struct pruning pruning = r->pruning;
    int rows = (g->height + PRUNING_TILE - 1) / PRUNING_TILE;
    uint8_t *kept = fetch(s, r->pruning.kept, KEPT_MOST * (size_t)(rows * pruning.columns));
    uint64_t hash = 1;
    pruning.kept = kept;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++)
            for (int k = 0; k < kept_count(kept_at(&pruning, x, y)); k++) {
                uint8_t *cost =
                    fetch(s, r->cost + pruned_labels(g, k, grid_pixel(g, x, y)), LABEL_BLOCK);
                hash = hash_of(hash, cost, LABEL_BLOCK);
                free(cost);
            }
    free(kept);
    return hash;
}

/* Pixel by pixel: between them lie bytes that nobody writes. */
static uint64_t hash_of_costs(struct livestereo *s) {
    const struct grid *g = &s->result.grid;
    uint8_t *cost = malloc(grid_volume(g));
    uint64_t hash = 1;
    assert(cost);
    int error = handle_fetch_volume(s, cost, s->result.cost);
    assert(!error);
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++)
            hash = hash_of(hash, cost + grid_labels(g, x, y), (size_t)g->labels);
    free(cost);
    return hash;
}

static uint64_t hash_of_probes(struct livestereo *s, uint64_t seed) {
    static double cost[MAX_LABELS], belief[MAX_LABELS];
    const struct grid *g = &s->result.grid;
    uint64_t random = draw_start(seed), hash = 1;
    for (int i = 0; i < PROBES; i++) {
        int x = (int)(draw(&random) % (uint32_t)g->width);
        int y = (int)(draw(&random) % (uint32_t)g->height);
        int label = frame_probe(s, x, y, cost, belief);
        hash = hash_of(hash, &label, sizeof(label));
        if (label < 0) /* the frame was computed in blocks */
            continue;
        hash = hash_of(hash, cost, (size_t)g->labels * sizeof(cost[0]));
        hash = hash_of(hash, belief, (size_t)g->labels * sizeof(belief[0]));
    }
    return hash;
}

static void note_pipeline(struct outcome *o, struct livestereo *s, uint64_t seed) {
    const struct grid *g = &s->result.grid;
    size_t bytes = (size_t)g->width * (size_t)g->height * sizeof(uint16_t);
    uint16_t *label = fetch(s, s->result.label, bytes);
    double energy;
    int error = livestereo_energy(s, &energy);
    assert(!error);
    o->hash[PART_ENERGY] = hash_of(1, &energy, sizeof(energy));
    o->hash[PART_LABELS] = hash_of(1, label, bytes);
    o->hash[PART_COSTS] = !s->result.cost          ? 0
                          : s->result.pruning.kept ? hash_of_kept_costs(s)
                                                   : hash_of_costs(s);
    o->hash[PART_PROBES] = hash_of_probes(s, seed);
    free(label);
}

/* ---- a sequence */

/* Patches of like colour seen shifted, with noise: smooth enough for arms and edges to differ. */
static void draw_blobs(struct frame *f, uint64_t *random) {
    int w = f->left.width, h = f->left.height, c = f->left.channels,
        shift = (int)(draw(random) % 5);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < c; k++) {
                int base = 37 * (x / 7) + 91 * (y / 5) + 50 * k;
                uint8_t v = (uint8_t)((base & 127) + (int)(draw(random) % 12));
                f->left.data[(y * w + x) * c + k] = v;
                f->right.data[(y * w + (x + w - shift % w) % w) * c + k] =
                    (uint8_t)(v + draw(random) % 5);
            }
}

static struct frame *take_frame(struct frame_pool *pool, const struct sequence *q, int i) {
    struct frame *f = pool_take(pool);
    uint64_t random = draw_start(q->seed + (uint64_t)i);
    f->index = i;
    f->left = (struct image){f->left.data, q->width, q->height, q->channels};
    f->right = (struct image){f->right.data, q->width, q->height, q->channels};
    if (q->blobs)
        draw_blobs(f, &random);
    else
        scene_fill(&f->left, &f->right, q->params[i].disparity_range, draw(&random));
    return f;
}

/* Runs a sequence on a backend, which it closes. Where frames overlap, the pipeline is not asked.
 * 0 or -errno. */
static int run_sequence(struct backend *b, const struct sequence *q, bool overlap,
                        struct outcome outcomes[MAX_FRAMES]) {
    int error;
    struct livestereo *s = handle_open(b, NULL, q->width, q->height, q->channels,
                                       q->maps[1].point ? q->maps : NULL, &error);
    assert(s);
    struct frame_pool *pool = frame_pool(s, MAX_FRAMES, q->width, q->height, q->channels);
    struct frame *f[MAX_FRAMES];
    assert(pool);
    memset(outcomes, 0, MAX_FRAMES * sizeof(*outcomes));
    for (int i = 0; i < q->count; i++)
        f[i] = take_frame(pool, q, i);
    int finished = 0;
    for (int i = 0; i < q->count && !error; i++) {
        bool may_wait = overlap && handle_info(s).frames_in_flight > 1 && i + 1 < q->count;
        error = frame_start(s, &q->params[i], f[i]);
        for (; finished <= i - may_wait && !error; finished++)
            error = frame_finish(s, f[finished]);
        if (!overlap && !error)
            note_pipeline(&outcomes[i], s, q->seed);
    }
    for (int i = 0; i < q->count; i++) {
        note_frame(&outcomes[i], f[i]);
        frame_drop(&f[i]);
    }
    pool_close(&pool);
    livestereo_close(&s);
    return error;
}

static struct backend *open_plain(void) {
    int error;
    struct backend *b = backend_cpu_open(2, VARIANT_PLAIN, &error);
    assert(b);
    return b;
}

static void say_difference(const struct sequence *q, const char *what, int i, const char *variant) {
    char text[64];
    printf("# %s: %s differs in frame %d of %dx%dx%d, seed %llu\n#  ", variant, what, i, q->width,
           q->height, q->channels, (unsigned long long)q->seed);
    for (int k = 0; k < param_count; k++)
        if (param_get(&q->params[i], &param_table[k]) != param_table[k].def)
            printf(" %s=%s", param_table[k].name,
                   param_print(&q->params[i], &param_table[k], text, sizeof(text)));
    printf("\n");
}

/* Whether a backend, which it closes, gives other outcomes. */
static bool differs(struct backend *b, const char *variant, const struct sequence *q, bool overlap,
                    const struct outcome want[MAX_FRAMES]) {
    struct outcome got[MAX_FRAMES];
    int parts = overlap ? OVERLAPPING_PARTS : PARTS;
    if (run_sequence(b, q, overlap, got)) {
        say_difference(q, "an error", 0, variant);
        return true;
    }
    for (int i = 0; i < q->count; i++)
        for (int part = 0; part < parts; part++)
            if (got[i].hash[part] != want[i].hash[part]) {
                say_difference(q, part_names[part], i, variant);
                return true;
            }
    return false;
}

/* ---- any settings */

/* Any value that the table allows. */
static void draw_live_params(struct params *p, uint64_t *random) {
    params_default(p);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        double value = info->min + (info->max - info->min) * draw(random) / UINT32_MAX;
        if (info->type != PARAM_TYPE_REAL)
            value = info->min + draw(random) % (uint32_t)(info->max - info->min + 1);
        if (info->when == PARAM_LIVE && draw(random) % 2) {
            int error = param_put(p, info, value);
            assert(!error);
        }
    }
}

/* Values that go together, within what keeps a frame short. */
static void draw_params(struct params *p, uint64_t *random, int width, bool small) {
    do
        draw_live_params(p, random);
    while (params_conflict(p));
    if (draw(random) % 4 == 0) {
        struct params motion = *p;
        motion.mode = MODE_MOTION;
        motion.cost_smoothing = COST_SMOOTHING_OFF;
        motion.motion_u_min = (int)(draw(random) % 9) - 6;
        motion.motion_v_min = (int)(draw(random) % 9) - 6;
        motion.motion_u_range = 1 + (int)(draw(random) % (small ? 4u : 9u));
        motion.motion_v_range = 1 + (int)(draw(random) % (small ? 4u : 9u));
        if (!params_conflict(&motion))
            *p = motion;
    }
    p->network = scene_network();
    p->tile_inner = 1 + p->tile_inner % 4;
    p->tile_outer = 1 + p->tile_outer % 3;
    p->disparity_range =
        stage_min(2 + (int)(draw(random) % (small ? 40u : 140u)), stage_max(width - 1, 2));
    p->min_disparity = (int)(draw(random) % 7) - 3;
    p->bp_iterations = (int)(draw(random) % 9);
    p->bp_iterations_0 = (int)(draw(random) % 7) - 1;
    p->bp_iterations_1 = (int)(draw(random) % 7) - 1;
    if (width > 20 && draw(random) % 4) /* the learned one is slow */
        p->descriptor = DESCRIPTOR_CENSUS;
    if (p->block_size > 0)
        p->block_size = 1 + (int)(draw(random) % (uint32_t)width);
    p->block_overlap = (int)(draw(random) % 20);
}

/* Of a rig that is turned a little; results may be smaller than the pictures. */
static void make_maps(struct sequence *q, int width, int height) {
    for (int v = 0; v < 2; v++) {
        struct rectify_map *map = &q->maps[v];
        *map = (struct rectify_map){.width = width, .height = height};
        map->point = malloc((size_t)width * (size_t)height * sizeof(*map->point));
        assert(map->point);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                map->point[y * width + x] =
                    (struct rectify_point){32 * x + 7 + y * 32 / 172, 32 * y + 9 - x * 32 / 172};
    }
}

static void free_maps(struct sequence *q) {
    for (int v = 0; v < 2; v++) {
        free(q->maps[v].point);
        q->maps[v].point = NULL;
    }
}

static struct sequence draw_sequence(const int size[2], uint64_t seed, bool small) {
    uint64_t random = draw_start(seed);
    struct sequence q = {.width = size[0], .height = size[1], .count = 4, .seed = seed};
    if (small && q.height > 30)
        q.height /= 3;
    if (small && q.width > 100)
        q.width /= 2;
    int width = q.width;
    q.channels = draw(&random) % 2 ? 1 : 3;
    q.blobs = draw(&random) % 4;
    if (draw(&random) % 3 == 0) {
        width -= width > 8 && draw(&random) % 2 ? 5 : 0;
        make_maps(&q, width, q.height);
    }
    for (int i = 0; i < q.count; i++) {
        q.params[i] = q.params[stage_max(i - 1, 0)];
        if (i == 0 || draw(&random) % 2)
            draw_params(&q.params[i], &random, width, small);
    }
    return q;
}

static void check_any_settings(struct parity *t, const bool wanted[VARIANTS], const int size[2]) {
    bool bad[VARIANTS] = {false};
    for (int n = 0; n < (t->small ? 1 : SEQUENCES); n++) {
        struct sequence q = draw_sequence(size, t->seed * 77 + (uint64_t)n, t->small);
        struct outcome want[MAX_FRAMES];
        int error = run_sequence(open_plain(), &q, false, want);
        assert(!error);
        for (int v = 0; v < VARIANTS; v++)
            if (wanted[v] && !bad[v] && (v != EMULATED || n < EMULATED_SEQUENCES))
                bad[v] = differs(parity_open((enum variant)v, q.seed), variant_names[v], &q, false,
                                 want);
        free_maps(&q);
    }
    for (int v = 0; v < VARIANTS; v++)
        if (wanted[v])
            parity_ok(t, !bad[v], "%s, any settings at %dx%d", variant_names[v], size[0], size[1]);
}

/* ---- sets of settings in turn */

/* Width, height, channels, labels. Small: a third of the columns where the labels fit, else a sixth
 * of the rows. */
static struct sequence sequence_of(const int shape[4], int count, bool small) {
    struct sequence q = {
        .width = shape[0], .height = shape[1], .channels = shape[2], .count = count, .seed = 77};
    if (small && shape[3] < q.width / 3)
        q.width /= 3;
    else if (small)
        q.height = (q.height + 5) / 6;
    return q;
}

static void check_sets(struct parity *t, const bool wanted[VARIANTS], const int shape[4],
                       bool small) {
    static_assert((int)SCENE_SETTINGS <= (int)MAX_FRAMES, "one frame a set");
    struct sequence q = sequence_of(shape, SCENE_SETTINGS, small);
    struct outcome want[MAX_FRAMES];
    for (int i = 0; i < q.count; i++) {
        q.params[i] = scene_params(i, shape[3]);
        q.params[i].network = scene_network();
    }
    int error = run_sequence(open_plain(), &q, false, want);
    assert(!error);
    for (int v = 0; v < VARIANTS; v++)
        if (wanted[v])
            parity_ok(
                t,
                !differs(parity_open((enum variant)v, t->seed), variant_names[v], &q, false, want),
                "%s, settings in turn at %dx%d, %d labels", variant_names[v], q.width, q.height,
                shape[3]);
}

/* ---- frames that overlap, against frames one by one */

/* Settings change under way. On the shuffled backend in several orders, any of which may do what
 * nobody waited for in time. */
static void check_overlap(struct parity *t, const bool wanted[VARIANTS], const int shape[4],
                          bool rectified) {
    static const int sets[MAX_FRAMES] = {0, 0, 0, 4, 4, 1, 1, 2, 14, 14, 14, 14, 15, 15, 15, 15};
    struct sequence q = sequence_of(shape, MAX_FRAMES, t->small);
    struct outcome want[MAX_FRAMES];
    int error;
    if (rectified)
        make_maps(&q, q.width, q.height);
    for (int i = 0; i < q.count; i++)
        q.params[i] = scene_params(sets[i], shape[3]);
    error = run_sequence(open_plain(), &q, false, want);
    assert(!error);
    for (int v = 0; v < VARIANTS; v++) {
        int orders = v == SHUFFLED ? ORDERS : 1;
        bool bad = false;
        for (int order = 0; order < orders && wanted[v] && !bad; order++)
            bad = differs(parity_open((enum variant)v, t->seed + (uint64_t)order), variant_names[v],
                          &q, true, want);
        if (wanted[v])
            parity_ok(t, !bad, "%s, overlapping frames%s", variant_names[v],
                      rectified ? ", rectified" : "");
    }
    free_maps(&q);
}

int main(int argc, char **argv) {
    static const int sizes[][2] = {{4, 1}, {5, 2}, {17, 5}, {40, 30}, {71, 33}, {130, 47}};
    static const int shapes[][4] = {
        {5, 3, 1, 3}, {97, 71, 3, 20}, {64, 33, 1, 16}, {41, 5, 3, 32}, {131, 40, 3, 100}};
    /* on a GPU so large that what does not wait comes too early */
    static const int little[4] = {41, 23, 3, 12}, large[4] = {640, 360, 3, 32};
    struct parity t = parity_begin(argc, argv);
    struct backend *backends[VARIANTS];
    bool wanted[VARIANTS], on_cpu[VARIANTS], on_gpu[VARIANTS], gpu = false;
    bool emulated[VARIANTS] = {false}, others[VARIANTS];
    parity_open_all(&t, backends);
    for (int v = 0; v < VARIANTS; v++) {
        wanted[v] = backends[v];
        others[v] = wanted[v] && v != EMULATED;
        on_cpu[v] = wanted[v] && v < CUDA_PLAIN;
        on_gpu[v] = wanted[v] && v >= CUDA_PLAIN;
        gpu = gpu || on_gpu[v];
    }
    parity_close_all(backends);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check_any_settings(&t, wanted, sizes[i]);
    /* Any settings above run at full size on the emulated GPU, too. */
    emulated[EMULATED] = wanted[EMULATED];
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (!t.small || i % 2 == 0)
            check_sets(&t, others, shapes[i], t.small);
        if (emulated[EMULATED] && i % 2 == 0)
            check_sets(&t, emulated, shapes[i], true);
    }
    for (int rectified = t.small; rectified < 2; rectified++) {
        check_overlap(&t, on_cpu, little, rectified);
        if (gpu)
            check_overlap(&t, on_gpu, t.small ? little : large, rectified);
    }
    return parity_end(&t);
}
