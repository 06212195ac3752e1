/*
 * Times of the pipeline itself, on machines that have a GPU but no GLib (`make gpu-test`): whole
 * frames of presets with pictures in memory of each kind, real pairs beside random textures of
 * their size, several cameras at once, labelling problems, and the plain form of the stages, of
 * which the library has no choice.
 * SPDX-License-Identifier: MIT
 */
#include "base/clock.h"
#include "base/log.h"
#include "config/presets.h"
#include "base/quantile.h"
#include "tests/frame_run.h"
#include "tests/splitmix.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SET = 32 };

/* ---- measuring */

enum { SIZES = 7, CPU_SIZES = 5, FRAMES = 51 };

struct size {
    int width, height, labels;
};
/* The last ones are too large for a CPU's patience. */
static const struct size sizes[SIZES] = {
    {384, 288, 16},   {450, 375, 64},    {640, 480, 64},    {1242, 375, 128},
    {1280, 720, 128}, {1920, 1080, 128}, {1920, 1080, 256},
};

/* How a frame is computed. */
struct runner {
    void *context;
    int (*start)(void *context, struct frame *frame); /* 0 or -errno */
    int (*finish)(void *context, struct frame *frame);
    bool overlaps; /* a second frame may be started before the first is finished */
    long number;   /* of the next frame */
};

/* Times in ms. bp: the left view's; stages: from the pictures on the device to the maps there;
 * whole: host to host. */
struct times {
    double bp[FRAMES], stages[FRAMES], whole[FRAMES];
    double stage[FRAME_STAGES]; /* of the last frame */
    double overlapped;          /* a frame when neighbouring frames overlap; 0: they do not */
    int count;
};

/* Random colours and, as left view, the same moved by up to labels - 1 px in strips. */
static void draw_pair(struct frame *f, int labels) {
    uint64_t state = 1;
    int w = f->left.width, h = f->left.height;
    size_t channels = (size_t)f->left.channels;
    for (size_t i = 0; i < image_bytes(&f->right); i++)
        f->right.data[i] = (uint8_t)splitmix64(&state);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int from = x - (y / 40 * 7 + x / 100 * 3) % labels;
            size_t row = (size_t)y * (size_t)w;
            memcpy(f->left.data + (row + (size_t)x) * channels,
                   f->right.data + (row + (size_t)(from < 0 ? 0 : from)) * channels, channels);
        }
}

static int start_next(struct runner *r, struct frame *f) {
    f->index = r->number++;
    return r->start(r->context, f);
}

static double stages_ms(const struct frame *f) {
    double sum = 0;
    for (int i = LIVESTEREO_UPLOAD + 1; i < LIVESTEREO_DOWNLOAD; i++)
        sum += f->stage_ms[i];
    return sum;
}

static int measure_alone(struct runner *r, struct frame *f, struct times *t) {
    double started = 0;
    for (int i = -1; i < FRAMES; i++) {
        int error = start_next(r, f) ?: r->finish(r->context, f);
        if (error)
            return error;
        if (i < 0) {
            started = clock_ms();
            continue;
        }
        t->stages[t->count] = stages_ms(f);
        t->bp[t->count] = f->left_bp_ms;
        t->whole[t->count++] = f->compute_ms;
        if (i >= 2 && clock_ms() - started > 3000)
            break;
    }
    memcpy(t->stage, f->stage_ms, sizeof(t->stage));
    return 0;
}

static int measure_overlapped(struct runner *r, struct frame *const f[2], struct times *t) {
    enum { WARM = 4 };
    double started = 0;
    int error = 0, issued = 0, finished = 0;
    while (issued < t->count + WARM && !error) {
        if (issued == WARM)
            started = clock_ms();
        error = start_next(r, f[issued & 1]);
        issued += !error;
        if (issued > 1 && !error)
            error = r->finish(r->context, f[finished++ & 1]);
    }
    for (; finished < issued; finished++) { /* one, or what an error left in flight */
        int last = r->finish(r->context, f[finished & 1]);
        error = error ? error : last;
    }
    t->overlapped = (clock_ms() - started) / t->count;
    return error;
}

/* One frame to warm up, then as many as three seconds hold, but three; then as many again with one
 * started before the last is finished. 0 or -errno. */
static int measure(struct runner *r, struct frame *const frames[2], struct times *t) {
    *t = (struct times){0};
    int error = measure_alone(r, frames[0], t);
    return error || !r->overlaps ? error : measure_overlapped(r, frames, t);
}

static void print_header(const char *title) {
    printf(
        "%s\nsize      labels   frame ms       p10..p90       overlapped    stages  left BP    MiB "
        "frames\n",
        title);
}

/* memory: bytes on the device. */
static void print_row(const struct size *size, struct times *t, size_t memory) {
    double whole = quantile_between(t->whole, t->count, 0.5);
    double low = quantile_between(t->whole, t->count, 0.1),
           high = quantile_between(t->whole, t->count, 0.9);
    printf("%4dx%-4d %6d  %9.3f %9.3f..%-9.3f %11.3f %9.3f %8.3f %6.1f %6d\n         ", size->width,
           size->height, size->labels, whole, low, high, t->overlapped,
           quantile_between(t->stages, t->count, 0.5), quantile_between(t->bp, t->count, 0.5),
           (double)memory / (1 << 20), t->count);
    for (int i = 0; i < FRAME_STAGES; i++)
        printf(" %s %.2f", livestereo_stage_name((enum livestereo_stage)i), t->stage[i]);
    printf("\n");
    fflush(stdout);
}

/* ---- the options */

struct options {
    int backend, variant;
    struct size size;         /* 0: those of the table */
    struct params params;     /* of a preset, with what --set names over it */
    const char *set[MAX_SET]; /* NULL behind the last one */
    const char *pairs;        /* a folder that tests/raw_pairs.py made, or NULL */
    bool cameras;
};

/* ---- frames */

static struct backend *open_backend(const struct options *o, int *error) {
    struct backend *b = NULL;
    if (o->backend != BACKEND_CPU)
        b = backend_cuda_open(o->params.gpu, o->variant, o->backend == BACKEND_AUTO, error);
    return b || o->backend == BACKEND_CUDA ? b
                                           : backend_cpu_open(o->params.threads, o->variant, error);
}

static int start(void *stereo, struct frame *f) {
    struct params params = *f->params;
    return frame_start(stereo, &params, f);
}

static int finish(void *stereo, struct frame *f) {
    return frame_finish(stereo, f);
}

/* Frames whose pictures and maps are in memory of the GPU. */
struct on_device {
    struct livestereo *s;
    void *picture[2], *disparity, *confidence;
};

static int start_on_device(void *context, struct frame *f) {
    const struct on_device *d = context;
    int width = f->left.width;
    struct livestereo_frame frame = {.number = f->index,
                                     .left = frame_rows(d->picture[0], width, 3),
                                     .right = frame_rows(d->picture[1], width, 3),
                                     .disparity = frame_rows(d->disparity, width, 2),
                                     .confidence = frame_rows(d->confidence, width, 1)};
    frame.disparity.format = LIVESTEREO_DISP16;
    frame.left.memory = LIVESTEREO_CUDA;
    return handle_start(d->s, &frame);
}

static int finish_on_device(void *context, struct frame *f) {
    return frame_finish(((struct on_device *)context)->s, f);
}

static int measure_on_device(struct livestereo *s, struct frame *const frames[2], struct times *t) {
    const struct frame *f = frames[0];
    struct backend *b = s->backend;
    size_t bytes = image_bytes(&f->left);
    struct on_device d = {s,
                          {b->alloc(b, MEMORY_STAGES, bytes), b->alloc(b, MEMORY_STAGES, bytes)},
                          b->alloc(b, MEMORY_STAGES, bytes),
                          b->alloc(b, MEMORY_STAGES, bytes)};
    struct runner r = {&d, start_on_device, finish_on_device, true, 0};
    int error = d.picture[0] && d.picture[1] && d.disparity && d.confidence ? 0 : -ENOMEM;
    if (!error)
        error = b->copy(b, d.picture[0], f->left.data, bytes);
    if (!error)
        error = b->copy(b, d.picture[1], f->right.data, bytes);
    if (!error)
        error = measure(&r, frames, t);
    void *const taken[] = {d.picture[0], d.picture[1], d.disparity, d.confidence};
    for (int i = 0; i < 4; i++)
        b->release(b, MEMORY_STAGES, taken[i]);
    return error;
}

/* Two frames of a size, in memory that the backend copies fastest or (with stereo NULL) in that of
 * malloc(). file: with both pictures, left and right, row by row in RGB, or NULL for random
 * textures. */
static struct frame_pool *open_frames(struct livestereo *s, const struct size *size,
                                      const struct params *p, const char *file,
                                      struct frame *frames[2]) {
    int w = size->width, h = size->height;
    struct frame_pool *pool = s ? frame_pool(s, 2, w, h, 3) : pool_open(2, w, h, 3, false, NULL);
    for (int i = 0; i < 2 && pool; i++) {
        FILE *in = file ? fopen(file, "rb") : NULL;
        struct frame *f = frames[i] = pool_take(pool);
        *f->params = *p;
        f->params->disparity_range = size->labels;
        draw_pair(f, size->labels);
        if (in && (fread(f->left.data, image_bytes(&f->left), 1, in) != 1 ||
                   fread(f->right.data, image_bytes(&f->right), 1, in) != 1))
            log_error(file, "not two pictures of %dx%d", w, h);
        if (in)
            fclose(in);
    }
    return pool;
}

static void close_frames(struct frame_pool *pool, struct frame *frames[2]) {
    for (int i = 0; i < 2 && pool; i++)
        frame_drop(&frames[i]);
    pool_close(&pool);
}

/* Frames in memory of malloc(), and of the GPU. */
static int measure_places(struct livestereo *s, struct runner *r, const struct size *size,
                          const struct params *params, const char *file, struct times *t) {
    struct frame *frames[2];
    struct frame_pool *pool = open_frames(NULL, size, params, file, frames);
    int error = pool ? measure(r, frames, t) : -ENOMEM;
    if (!error)
        printf("          pageable memory: frame %.3f, overlapped %.3f; ",
               quantile_between(t->whole, t->count, 0.5), t->overlapped);
    if (!error)
        error = measure_on_device(s, frames, t);
    if (!error)
        printf("on the GPU: %.3f, %.3f\n", quantile_between(t->whole, t->count, 0.5),
               t->overlapped);
    close_frames(pool, frames);
    return error;
}

static int measure_size(const struct options *o, struct backend *b, const struct size *size,
                        const char *file) {
    static struct times times;
    int error = 0;
    struct livestereo *s =
        handle_open(b, NULL, size->width, size->height, PICTURE_RGB, NULL, &error);
    if (!s)
        return error;
    struct frame *frames[2];
    struct frame_pool *pool = open_frames(s, size, &o->params, file, frames);
    struct runner runner = {s, start, finish, handle_info(s).frames_in_flight > 1, 0};
    error = pool ? measure(&runner, frames, &times) : -ENOMEM;
    if (!error)
        print_row(size, &times, handle_info(s).memory);
    if (!error && b->own_memory)
        error = measure_places(s, &runner, size, &o->params, file, &times);
    for (int i = 0; i < 2 && !error && file; i++)
        draw_pair(frames[i], size->labels);
    if (!error && file && !(error = measure(&runner, frames, &times)))
        printf("          %s; a random texture of its size: %.3f, overlapped %.3f\n",
               strrchr(file, '/') + 1, quantile_between(times.whole, times.count, 0.5),
               times.overlapped);
    close_frames(pool, frames);
    livestereo_close(&s);
    return error;
}

static int measure_opened(const struct options *o, const struct size *size, const char *file) {
    int error = 0;
    struct backend *b = open_backend(o, &error);
    return b ? measure_size(o, b, size, file) : error;
}

/* Real pairs: files WIDTHxHEIGHT_LABELS_NAME.rgb. */
static int measure_pairs(const struct options *o) {
    struct dirent **files;
    int error = 0, count = o->pairs ? scandir(o->pairs, &files, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        struct size size;
        char path[512];
        const char *name = files[i]->d_name;
        snprintf(path, sizeof(path), "%s/%s", o->pairs, name);
        if (!error && sscanf(name, "%dx%d_%d_", &size.width, &size.height, &size.labels) == 3)
            error = measure_opened(o, &size, path);
        free(files[i]);
    }
    if (count > 0)
        free(files);
    return error;
}

static int measure_preset(const struct options *o, const char *name) {
    char title[256];
    int error = 0;
    struct backend *b = open_backend(o, &error);
    if (!b)
        return error;
    int count = o->size.width ? 1 : b->own_memory ? SIZES : CPU_SIZES;
    snprintf(title, sizeof(title), "%s, %s", name, b->name);
    print_header(title);
    b->close(&b);
    for (int i = 0; i < count && !error; i++) {
        struct size size = o->size.width ? o->size : sizes[i];
        if (o->size.labels || !size.labels)
            size.labels = o->size.labels ? o->size.labels : 64;
        error = measure_opened(o, &size, NULL);
    }
    return error ? error : measure_pairs(o);
}

/* ---- several cameras */

/* A camera with a handle and a thread of its own; pictures are in pageable memory. */
struct camera {
    const struct options *options;
    struct size size;
    double begin_ms, end_ms, period_ms; /* of frames; period 0: the next one comes at once */
    pthread_t thread;
    pthread_barrier_t *opened;
    size_t bytes;
    int error, frames, late; /* late: done after the next frame came */
    double worst_ms;
};

/* Two frames are in flight where frames come at once, as the program has them. */
static int run_camera(struct camera *c, struct livestereo *s, struct frame *frames[2]) {
    int issued = 0, ahead = c->period_ms > 0 ? 0 : handle_info(s).frames_in_flight > 1, error = 0;
    double due = c->begin_ms;
    while (!error && due < c->end_ms) {
        while (clock_ms() < due)
            usleep(100);
        error = start(s, frames[issued++ & 1]);
        if (error || issued <= ahead)
            continue;
        error = frame_finish(s, frames[c->frames++ & 1]);
        double now = clock_ms(), took = now - due;
        c->worst_ms = took > c->worst_ms ? took : c->worst_ms;
        c->late += c->period_ms > 0 && took > c->period_ms;
        due = c->period_ms > 0 ? due + c->period_ms : now;
    }
    return error;
}

static void *camera_thread(void *argument) {
    struct camera *c = argument;
    int w = c->size.width, h = c->size.height;
    struct frame *frames[2];
    struct backend *b = open_backend(c->options, &c->error);
    struct livestereo *s = b ? handle_open(b, NULL, w, h, PICTURE_RGB, NULL, &c->error) : NULL;
    struct frame_pool *pool =
        s ? open_frames(NULL, &c->size, &c->options->params, NULL, frames) : NULL;
    for (int i = 0; i < 8 && pool && !c->error; i++)
        c->error = frame_run(s, frames[i & 1]->params, frames[i & 1]);
    pthread_barrier_wait(c->opened);
    pthread_barrier_wait(c->opened); /* begin_ms is set */
    if (pool && !c->error)
        c->error = run_camera(c, s, frames);
    c->bytes = s ? handle_info(s).memory : 0;
    livestereo_close(&s);
    close_frames(pool, frames);
    return NULL;
}

static int run_cameras(const struct options *o, const struct size *size, int count,
                       double period_ms, struct camera *sum) {
    struct camera cameras[16];
    pthread_barrier_t opened;
    pthread_barrier_init(&opened, NULL, (unsigned)count + 1);
    for (struct camera *c = cameras; c < cameras + count; c++) {
        *c = (struct camera){.options = o, .size = *size, .period_ms = period_ms};
        c->opened = &opened;
        pthread_create(&c->thread, NULL, camera_thread, c);
    }
    pthread_barrier_wait(&opened);
    double begin = clock_ms() + 5;
    for (int i = 0; i < count; i++) {
        cameras[i].begin_ms = begin + i * period_ms / count;
        cameras[i].end_ms = begin + 1000;
    }
    pthread_barrier_wait(&opened);
    *sum = (struct camera){0};
    for (struct camera *c = cameras; c < cameras + count; c++) {
        pthread_join(c->thread, NULL);
        sum->error = sum->error ? sum->error : c->error;
        sum->frames += c->frames;
        sum->late += c->late;
        sum->bytes += c->bytes;
        sum->worst_ms = c->worst_ms > sum->worst_ms ? c->worst_ms : sum->worst_ms;
    }
    pthread_barrier_destroy(&opened);
    return sum->error;
}

static int measure_cameras(const struct options *o, const char *preset) {
    static const struct size usual[] = {{640, 480, 64}, {1280, 720, 128}};
    int error = 0;
    printf("%s\nsize      labels  cameras  frames/s  late at 30/s  slowest ms    MiB\n", preset);
    for (int i = 0; i < (o->size.width ? 1 : 2) && !error; i++) {
        struct size size = o->size.width ? o->size : usual[i];
        for (int count = 1; count <= 16 && !error; count *= 2) {
            struct camera fast, steady;
            error = run_cameras(o, &size, count, 0, &fast);
            if (!error)
                error = run_cameras(o, &size, count, 1000.0 / 30, &steady);
            if (!error)
                printf("%4dx%-4d %6d %8d %9d %5d of %-4d %11.2f %6zu\n", size.width, size.height,
                       size.labels, count, fast.frames, steady.late, steady.frames, steady.worst_ms,
                       fast.bytes >> 20);
            fflush(stdout);
        }
    }
    return error;
}

/* The exit code. */
static int measure_presets(struct options *o, const char *const *names) {
    int error = 0;
    char why[200];
    for (; *names && !error; names++) {
        const struct preset *preset = preset_find(*names);
        params_default(&o->params);
        if (!preset) {
            log_error("bench_gpu", "no preset \"%s\"", *names);
            return 2;
        }
        preset_apply(preset, &o->params);
        for (const char *const *set = o->set; *set; set++)
            if (params_assign(&o->params, *set, why, sizeof(why))) {
                log_error("--set", "%s", why);
                return 2;
            }
        error = o->cameras ? measure_cameras(o, *names) : measure_preset(o, *names);
    }
    return error ? 1 : 0;
}

/* ---- the command line */

static int print_usage(FILE *to, int code) {
    fprintf(to, "usage: bench_gpu [OPTION..] [PRESET..]\n"
                "  frames of the presets, or of default, live and driving, on random textures\n"
                "  --backend auto|cpu|cuda  --plain (stages in their plain form)\n"
                "  --avx2 (on the CPU without AVX-512)\n"
                "  --size WxH  --labels N  --set NAME=VALUE (repeatable)\n"
                "  --pairs FOLDER (of tests/raw_pairs.py: real pairs, too)\n"
                "  --cameras (frames a second of 1 to 16 handles in threads of their own)\n");
    return code;
}

/* Whether name is an option and value fits it. */
static bool set_option(struct options *o, const char *name, const char *value) {
    static const char *const backends[] = {"auto", "cpu", "cuda"};
    size_t set = 0;
    if (!value)
        return false;
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, "--backend") && !strcmp(value, backends[i])) {
            o->backend = i;
            return true;
        }
    if (!strcmp(name, "--pairs"))
        o->pairs = value;
    if (!strcmp(name, "--pairs"))
        return true;
    if (!strcmp(name, "--size"))
        return sscanf(value, "%dx%d", &o->size.width, &o->size.height) == 2;
    if (!strcmp(name, "--labels"))
        return sscanf(value, "%d", &o->size.labels) == 1 && o->size.labels > 1;
    while (set + 1 < MAX_SET && o->set[set])
        set++;
    if (strcmp(name, "--set") != 0 || set + 1 == MAX_SET)
        return false;
    o->set[set] = value;
    return true;
}

int main(int argc, char **argv) {
    struct options o = {.variant = VARIANT_OPTIMISED};
    const char *const usual[] = {"default", "live", "driving", NULL}, *named[MAX_SET] = {0};
    int count = 0;
    params_default(&o.params);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            return print_usage(stdout, 0);
        if (!strcmp(argv[i], "--cameras"))
            o.cameras = true;
        else if (!strcmp(argv[i], "--plain"))
            o.variant = VARIANT_PLAIN;
        else if (!strcmp(argv[i], "--avx2"))
            o.variant = VARIANT_AVX2;
        else if (argv[i][0] == '-' && set_option(&o, argv[i], argv[i + 1]))
            i++;
        else if (argv[i][0] == '-' || count + 1 == MAX_SET)
            return print_usage(stderr, 2);
        else
            named[count++] = argv[i];
    }
    return measure_presets(&o, count ? named : usual);
}
