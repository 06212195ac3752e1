/*
 * The CUDA backend: every stage is a kernel with one thread for each pixel, or for some of a column
 * where pictures are large, in the streams that the graph chose. Optimised kernels of other files
 * replace entries of the launch table and give the same bytes.
 *
 * The first time, the stages of a frame are issued one by one. The second time they are
 * captured as a CUDA graph, which then runs all of them, since settings that change with every
 * frame are not worth a capture. Frames whose stages are timed, the first two and every 16th, have
 * a graph of their own. Uploads and downloads are not captured, so that they overlap with the
 * stages of the neighbouring frames.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "gpu/cuda/backend_cuda.h"
extern "C" {
#include "gpu/cpu/thread_pool.h"
}

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { STAGE_ROWS = 4 };

/* Both views of 1920x1080 with 128 labels run beside each other in it. */
enum { OVERLAP_BYTES = 1536 << 20 };

/* So many threads copy pageable memory, in so many parts, from so many bytes on: to wake them takes
 * as long as to copy that alone. Pictures are uploaded in steps, one while the next is copied. */
enum { COPY_THREADS = 4, COPY_PARTS = 16, COPY_BYTES = 384 << 10, UPLOAD_BYTES = 4 << 20 };

/* One frame in so many of a slot has its stages timed: events take a tenth of the time of a small
 * picture. */
enum { TIMED_FRAMES = 16 };

/* Blocks of a stage, at most twice as many as run at once: starting more takes longer than small
 * stages do. */
static dim3 stage_blocks(const backend_cuda *cuda, int width, int height) {
    dim3 all = cuda_blocks(width, WARP_SIZE, height, STAGE_ROWS);
    unsigned running = (unsigned)(cuda->processors * cuda->threads / (WARP_SIZE * STAGE_ROWS)),
             rows = 2 * running / all.x;
    return dim3(all.x, stage_min((int)all.y, stage_max((int)rows, 1)));
}

#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)                                      \
    static __global__ void kernel_##name(const arguments##_args args, int width, int height) { \
        int x = (int)(blockIdx.x * blockDim.x + threadIdx.x),                                  \
            y = (int)(blockIdx.y * blockDim.y + threadIdx.y);                                  \
        for (; x < width && y < height; y += (int)(gridDim.y * blockDim.y))                    \
            stage_##name(&args, x, y);                                                         \
    }                                                                                          \
    static void launch_##name(struct backend_cuda *cuda, const void *args, int width,          \
                              int height) {                                                    \
        kernel_##name<<<stage_blocks(cuda, width, height), dim3(WARP_SIZE, STAGE_ROWS), 0,     \
                        cuda->stream>>>(*static_cast<const arguments##_args *>(args), width,   \
                                        height);                                               \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

static cuda_launch *const plain_launches[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) launch_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
};

static backend_cuda *cuda_of(backend *b) {
    return reinterpret_cast<backend_cuda *>(b);
}

/* Stores and logs the first failure since the last wait. */
static void note(backend_cuda *cuda, cudaError_t code, const char *what) {
    if (code == cudaSuccess)
        return;
    cudaGetLastError(); /* a failure left in place would be found again by whoever asks next */
    if (cuda->error)
        return;
    cuda->error = code == cudaErrorMemoryAllocation ? -ENOMEM : -EIO;
    cuda->failed = cuda->failed || cuda->error == -EIO;
    log_error(cuda->base.name, "%s failed: %s", what, cudaGetErrorString(code));
}

void cuda_check(backend_cuda *cuda, const char *what) {
    note(cuda, cudaGetLastError(), what);
}

static int first_failure(backend_cuda *cuda) {
    int error = cuda->error;
    cuda->error = 0;
    return error;
}

/* A new thread uses GPU 0 unless it is told otherwise. */
static void enter(const backend_cuda *cuda) {
    if (cudaSetDevice(cuda->device) != cudaSuccess)
        cudaGetLastError();
}

/* ---- memory */

static void *cuda_alloc(backend *b, enum memory_kind kind, size_t bytes) {
    void *memory = nullptr;
    bytes = bytes ? bytes : 1;
    enter(cuda_of(b));
    cudaError_t code =
        kind == MEMORY_HOST ? cudaMallocHost(&memory, bytes) : cudaMalloc(&memory, bytes);
    if (code == cudaSuccess)
        return memory;
    cudaGetLastError();
    size_t left = 0, all = 0;
    if (kind == MEMORY_STAGES && cudaMemGetInfo(&left, &all) == cudaSuccess)
        log_info(b->name, "no room for %zu MiB on the GPU: %zu of %zu MiB are free", bytes >> 20,
                 left >> 20, all >> 20);
    cudaGetLastError();
    return nullptr;
}

static void cuda_release(backend *b, enum memory_kind kind, void *memory) {
    if (!memory)
        return;
    cudaError_t code = kind == MEMORY_HOST ? cudaFreeHost(memory) : cudaFree(memory);
    if (cuda_of(b)->failed) /* then memory may have gone with the device */
        cudaGetLastError();
    else
        note(cuda_of(b), code, "freeing memory");
}

static int cuda_copy(backend *b, void *to, const void *from, size_t bytes) {
    backend_cuda *cuda = cuda_of(b);
    enter(cuda);
    for (cudaStream_t stream : cuda->streams)
        note(cuda, cudaStreamSynchronize(stream), "a frame");
    cudaStream_t stream = cuda->streams[STREAM_MAIN];
    note(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "a copy");
    note(cuda, cudaStreamSynchronize(stream), "a copy");
    return first_failure(cuda);
}

/* ---- compiled graphs */

/* Each pass that begins a unit has its events, null where they are not needed. */
struct unit_events {
    cudaEvent_t inner; /* awaited by stages: within captured work */
    cudaEvent_t outer; /* awaited from outside of it: by downloads, or of uploads */
    cudaEvent_t begun; /* timed, before the first one of a run */
    cudaEvent_t ended; /* timed, after the last one */
    /* A transfer has these, too. */
    size_t staging;              /* where its bytes are in the slot's page-locked memory */
    struct image_memory to_fill; /* wait has to copy there from it; data null: nowhere */
    cudaEvent_t arrived;         /* then its bytes are there */
};

struct program_slot {
    struct unit_events *events; /* by pass */
    cudaGraphExec_t graph[2];   /* timed and not */
    bool current[2]; /* the graph is this program's, not an earlier one's of the same shape */
    int runs;
    bool timed; /* the last frame was */
};

struct cuda_program {
    const struct graph *g;
    int count;      /* passes, as compiled */
    uint64_t shape; /* a hash of stages, units, streams and waits */
    size_t staging_bytes;
    struct program_slot slots[MAX_SLOTS];
};

static void destroy_event(cudaEvent_t event) {
    if (event)
        cudaEventDestroy(event);
}

static void cuda_discard(backend *b, void *compiled) {
    cuda_program *p = static_cast<cuda_program *>(compiled);
    for (program_slot &slot : p->slots) {
        for (cudaGraphExec_t graph : slot.graph)
            if (graph)
                note(cuda_of(b), cudaGraphExecDestroy(graph), "dropping a graph");
        for (int i = 0; slot.events && i < p->count; i++)
            for (cudaEvent_t event :
                 {slot.events[i].inner, slot.events[i].outer, slot.events[i].begun,
                  slot.events[i].ended, slot.events[i].arrived})
                destroy_event(event);
        free(slot.events);
    }
    cudaGetLastError();
    free(p);
}

/* Whether a pass waits, from outside of the captured work, for a unit of an earlier pass. */
static bool waits_outside(const struct graph *g, int i, int unit) {
    return g->passes[i].kind == PASS_DOWNLOAD || g->passes[unit].kind == PASS_UPLOAD;
}

static void create(backend_cuda *cuda, cudaEvent_t *event, unsigned flags) {
    if (!*event)
        note(cuda, cudaEventCreateWithFlags(event, flags), "taking an event");
}

static bool waits(const struct pass *pass) {
    for (int unit : pass->wait)
        if (unit >= 0)
            return true;
    return false;
}

/* A run is a part of a stream without waits whose times count for one group. */
static void create_time_events(backend_cuda *cuda, const struct graph *g,
                               struct unit_events *events) {
    int last[STREAMS];
    memset(last, 0xff, sizeof(last));
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        const struct pass *pass = &g->passes[i];
        int *before = &last[pass->stream];
        if (pass->kind != PASS_STAGE)
            continue;
        if (*before < 0 || waits(pass) || g->passes[*before].group != pass->group) {
            create(cuda, &events[i].begun, cudaEventDefault);
            if (*before >= 0)
                create(cuda, &events[*before].ended, cudaEventDefault);
        }
        *before = i;
    }
    for (int unit : last)
        if (unit >= 0)
            create(cuda, &events[unit].ended, cudaEventDefault);
}

static void create_events(backend_cuda *cuda, const struct graph *g, struct unit_events *events) {
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        const struct pass *pass = &g->passes[i];
        for (int unit : pass->wait)
            if (unit >= 0)
                create(cuda, waits_outside(g, i, unit) ? &events[unit].outer : &events[unit].inner,
                       cudaEventDisableTiming);
    }
    create_time_events(cuda, g, events);
    for (int unit : g->joined)
        if (unit >= 0)
            create(cuda, &events[unit].inner, cudaEventDisableTiming);
}

/* Gives each transfer a place in the page-locked memory of a slot. Returns its size. */
static size_t place_transfers(const struct graph *g, struct unit_events *events) {
    size_t bytes = 0;
    for (int i = 0; i < g->count; i++) {
        events[i].staging = bytes;
        if (g->passes[i].kind != PASS_STAGE)
            bytes += (g->passes[i].transfer.bytes + 255) / 256 * 256;
    }
    return bytes;
}

/* Graphs of one shape differ by their arguments. */
static uint64_t shape_of(const struct graph *g) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (int i = 0; i < g->count; i++) {
        const struct pass *p = &g->passes[i];
        const int parts[] = {(int)p->kind, (int)p->stage, p->unit, (int)p->stream};
        for (int part : parts)
            hash = (hash ^ (uint64_t)(part + 1)) * 0x100000001b3u;
        for (int unit : p->wait)
            hash = (hash ^ (uint64_t)(unit + 1)) * 0x100000001b3u;
    }
    return hash;
}

static void *cuda_compile(backend *b, void *previous, const struct graph *g) {
    backend_cuda *cuda = cuda_of(b);
    cuda_program *p = static_cast<cuda_program *>(calloc(1, sizeof(*p))),
                 *before = static_cast<cuda_program *>(previous);
    bool taken = p;
    enter(cuda);
    if (p) {
        p->g = g;
        p->count = g->count;
        p->shape = shape_of(g);
    }
    for (int i = 0; i < b->slots && taken; i++) {
        p->slots[i].events = static_cast<struct unit_events *>(
            calloc((size_t)g->count + 1, sizeof(struct unit_events))); /* 0 is no size */
        taken = p->slots[i].events;
        if (taken) {
            create_events(cuda, g, p->slots[i].events);
            p->staging_bytes = place_transfers(g, p->slots[i].events);
        }
    }
    for (int i = 0; i < b->slots && taken && before && before->shape == p->shape; i++) {
        memcpy(p->slots[i].graph, before->slots[i].graph, sizeof(p->slots[i].graph));
        memset(before->slots[i].graph, 0, sizeof(p->slots[i].graph)); /* to be updated */
    }
    if (before)
        cuda_discard(b, before);
    if (p && !taken)
        cuda_discard(b, p);
    return taken ? p : nullptr;
}

/* ---- a frame */

/* An event that is read outside of captured work is recorded beside it, so that the next stage
 * follows the last one directly. */
static void record(backend_cuda *cuda, cudaEvent_t event, enum stream stream) {
    cudaStream_t from = cuda->streams[stream], beside = cuda->beside[stream];
    if (!event)
        return;
    if (!cuda->capturing) {
        note(cuda, cudaEventRecord(event, from), "an event");
        return;
    }
    note(cuda, cudaEventRecord(cuda->part, from), "an event");
    note(cuda, cudaStreamWaitEvent(beside, cuda->part, 0), "an event");
    note(cuda, cudaEventRecordWithFlags(event, beside, cudaEventRecordExternal), "an event");
    cuda->parted[stream] = true;
}

static void wait_for(backend_cuda *cuda, cudaStream_t stream, cudaEvent_t event, bool outside) {
    unsigned flags = outside && cuda->capturing ? cudaEventWaitExternal : cudaEventWaitDefault;
    note(cuda, cudaStreamWaitEvent(stream, event, flags), "an event");
}

static void wait_for_units(backend_cuda *cuda, const struct graph *g,
                           const struct unit_events *events, int i) {
    for (int unit : g->passes[i].wait)
        if (unit >= 0) {
            bool outside = waits_outside(g, i, unit);
            wait_for(cuda, cuda->stream, outside ? events[unit].outer : events[unit].inner,
                     outside);
        }
}

static void signal_unit(backend_cuda *cuda, const struct unit_events *events, enum stream stream) {
    if (events->inner)
        note(cuda, cudaEventRecord(events->inner, cuda->stream), "an event");
    record(cuda, events->outer, stream);
}

/* The stages of a frame; the main stream goes on when all are done. */
static void issue_stages(backend_cuda *cuda, const cuda_program *p, int slot) {
    const struct graph *g = p->g;
    const struct unit_events *events = p->slots[slot].events;
    bool timed = p->slots[slot].timed;
    cudaStream_t main = cuda->streams[STREAM_MAIN];
    note(cuda, cudaEventRecord(cuda->fork, main), "an event");
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        enum stream stream = g->passes[i].stream;
        if (g->passes[i].kind != PASS_STAGE)
            continue;
        cuda->stream = cuda->streams[stream];
        if (i == g->begun[stream])
            wait_for(cuda, cuda->stream, cuda->fork, false);
        wait_for_units(cuda, g, events, i);
        record(cuda, timed ? events[i].begun : nullptr, stream);
        cuda_issue_unit(cuda, g, i, slot);
        cuda_check(cuda, stage_info(g->passes[i].stage)->name);
        signal_unit(cuda, &events[i], stream);
        record(cuda, timed ? events[i].ended : nullptr, stream);
    }
    cuda->stream = main;
    for (int unit : g->joined)
        if (unit >= 0)
            wait_for(cuda, main, events[unit].inner, false);
}

/* Updates graph to the captured work, or instantiates it again where that is not possible. */
static void update_graph(backend_cuda *cuda, cudaGraphExec_t *graph, cudaGraph_t captured) {
    cudaGraphExecUpdateResultInfo info;
    if (*graph && cudaGraphExecUpdate(*graph, captured, &info) == cudaSuccess)
        return;
    cudaGetLastError();
    if (*graph)
        note(cuda, cudaGraphExecDestroy(*graph), "dropping a graph");
    *graph = nullptr;
    note(cuda, cudaGraphInstantiate(graph, captured, cudaGraphInstantiateFlagUseNodePriority),
         "making a graph");
}

static void capture_stages(backend_cuda *cuda, cuda_program *p, int slot) {
    cudaStream_t main = cuda->streams[STREAM_MAIN];
    struct program_slot *s = &p->slots[slot];
    cudaGraph_t captured = nullptr;
    cudaError_t code = cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal);
    note(cuda, code, "capturing a frame");
    cuda->capturing = code == cudaSuccess;
    issue_stages(cuda, p, slot);
    if (!cuda->capturing)
        return;
    for (int t = 0; t < STREAMS; t++) {
        if (!cuda->parted[t])
            continue;
        note(cuda, cudaEventRecord(cuda->part, cuda->beside[t]), "capturing a frame");
        wait_for(cuda, main, cuda->part, false);
        cuda->parted[t] = false;
    }
    cuda->capturing = false;
    note(cuda, cudaStreamEndCapture(main, &captured), "capturing a frame");
    if (!captured)
        return;
    update_graph(cuda, &s->graph[s->timed], captured);
    note(cuda, cudaGraphDestroy(captured), "dropping a captured frame");
    s->current[s->timed] = s->graph[s->timed];
    if (s->current[s->timed])
        note(cuda, cudaGraphLaunch(s->graph[s->timed], main), "a frame's graph");
}

static void run_stages(backend_cuda *cuda, cuda_program *p, int slot) {
    struct program_slot *s = &p->slots[slot];
    s->timed =
        s->runs < 2 || s->runs % TIMED_FRAMES == 0; /* so that both graphs are captured early */
    if (s->current[s->timed])
        note(cuda, cudaGraphLaunch(s->graph[s->timed], cuda->streams[STREAM_MAIN]),
             "a frame's graph");
    else if (s->runs > 0 && cuda->base.slots > 1)
        capture_stages(cuda, p, slot);
    else
        issue_stages(cuda, p, slot);
    s->runs++;
}

/* ---- transfers
 * The driver copies pageable memory with one thread, and makes the caller wait for downloads.
 * Therefore such memory is copied here, by several threads, to and from page-locked memory of the
 * slot: pictures before the stages are issued, maps while wait waits. Locking the caller's own
 * pages would save that, but what is unmapped and mapped again would be read from its old pages. */

/* Copies the rows that a transfer names; outside may be memory of the device. */
static void copy_rows(backend_cuda *cuda, const struct transfer *t, bool up, void *inside,
                      const struct image_memory *outside) {
    size_t row = outside->row, kept = outside->kept, pitch = outside->pitch, rows = t->bytes / row;
    char *at = static_cast<char *>(outside->data) + t->host_offset / row * pitch,
         *from = static_cast<char *>(inside) + outside->first;
    cudaStream_t stream = cuda->stream;
    cudaError_t code;
    if (kept == row && kept == pitch && up)
        code = cudaMemcpyAsync(from, at, t->bytes, cudaMemcpyDefault, stream);
    else if (kept == row && kept == pitch)
        code = cudaMemcpyAsync(at, from, t->bytes, cudaMemcpyDefault, stream);
    else if (up)
        code = cudaMemcpy2DAsync(from, row, at, pitch, kept, rows, cudaMemcpyDefault, stream);
    else
        code = cudaMemcpy2DAsync(at, pitch, from, row, kept, rows, cudaMemcpyDefault, stream);
    note(cuda, code, up ? "upload" : "download");
}

/* Rows, from one on, that pass between the caller's memory and page-locked memory. */
struct staged_rows {
    const struct transfer *transfer;
    const struct image_memory *outside;
    char *staging;
    bool up;
    int first;
};

static void copy_staged_rows(void *context, int first, int last, void *) {
    const staged_rows *s = static_cast<const staged_rows *>(context);
    size_t offset = (size_t)(s->first + first) * s->outside->row;
    struct transfer part = *s->transfer;
    part.host_offset += offset;
    part.bytes = (size_t)(last - first) * s->outside->row;
    backend_transfer(&part, s->up, s->up, s->staging + offset, s->outside);
}

static void copy_staged(backend_cuda *cuda, staged_rows *s, int rows) {
    int unused;
    bool many = rows * s->outside->row >= COPY_BYTES;
    if (many && !cuda->pool) /* without threads the caller's does it */
        cuda->pool = thread_pool_open(COPY_THREADS, 0, &unused);
    if (many && cuda->pool)
        thread_pool_run(cuda->pool, rows, rows / COPY_PARTS, copy_staged_rows, s);
    else
        copy_staged_rows(s, 0, rows, nullptr);
}

static void upload_staged(backend_cuda *cuda, const struct transfer *t, char *staging, char *inside,
                          const struct image_memory *outside) {
    struct staged_rows s = {t, outside, staging, true, 0};
    int rows = (int)(t->bytes / outside->row),
        step = stage_max(UPLOAD_BYTES / (int)outside->row, 1);
    for (; s.first < rows; s.first += step) {
        int count = stage_min(step, rows - s.first);
        size_t offset = (size_t)s.first * outside->row;
        copy_staged(cuda, &s, count);
        note(cuda,
             cudaMemcpyAsync(inside + offset, staging + offset, count * outside->row,
                             cudaMemcpyHostToDevice, cuda->stream),
             "upload");
    }
}

static bool is_pageable(const void *memory) {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
        return attributes.type == cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return false;
}

/* Whether the slot, which has no frame in flight, has so much page-locked memory now. */
static bool has_staging(cuda_slot *s, size_t bytes) {
    if (s->staging_bytes >= bytes)
        return true;
    cudaFreeHost(s->staging);
    s->staging = nullptr;
    void *memory = nullptr;
    if (cudaMallocHost(&memory, bytes) == cudaSuccess)
        s->staging = static_cast<char *>(memory);
    cudaGetLastError();
    s->staging_bytes = s->staging ? bytes : 0;
    return s->staging;
}

static void run_transfer(backend_cuda *cuda, const cuda_program *p, int slot, int i,
                         const struct image_memory *outside) {
    const struct transfer *t = &p->g->passes[i].transfer;
    bool up = p->g->passes[i].kind == PASS_UPLOAD;
    struct unit_events *events = &p->slots[slot].events[i];
    char *inside = static_cast<char *>(graph_address(p->g, t->buffer, slot));
    if (!outside->data)
        return;
    if (!is_pageable(outside->data) || !has_staging(&cuda->slots[slot], p->staging_bytes)) {
        copy_rows(cuda, t, up, inside, outside);
        return;
    }
    char *staging = cuda->slots[slot].staging + events->staging;
    if (up) {
        upload_staged(cuda, t, staging, inside, outside);
        return;
    }
    note(cuda, cudaMemcpyAsync(staging, inside, t->bytes, cudaMemcpyDeviceToHost, cuda->stream),
         "download");
    create(cuda, &events->arrived, cudaEventDisableTiming);
    note(cuda, cudaEventRecord(events->arrived, cuda->stream), "an event");
    events->to_fill = *outside;
}

/* Fills the caller's pageable memory, in the order of its downloads. */
static void fill_maps(backend_cuda *cuda, const cuda_program *p, int slot) {
    for (int i = 0; i < p->count; i++) {
        const struct transfer *t = &p->g->passes[i].transfer;
        struct unit_events *events = &p->slots[slot].events[i];
        struct staged_rows s = {t, &events->to_fill, cuda->slots[slot].staging + events->staging,
                                false, 0};
        if (!s.outside->data)
            continue;
        note(cuda, cudaEventSynchronize(events->arrived), "a frame");
        if (!cuda->error)
            copy_staged(cuda, &s, (int)(t->bytes / s.outside->row));
        events->to_fill.data = nullptr;
    }
}

/* All uploads, or all downloads, of a frame, between two time marks: the first one is before the
 * first upload, or before the last download. */
static void run_transfers(backend_cuda *cuda, const cuda_program *p, int slot, enum pass_kind kind,
                          const struct image_memory *memory) {
    const struct graph *g = p->g;
    bool up = kind == PASS_UPLOAD, marked = false;
    enum stream stream = up ? STREAM_UPLOAD : STREAM_DOWNLOAD;
    cuda->stream = cuda->streams[stream];
    const cudaEvent_t *marks = up ? cuda->slots[slot].uploads : cuda->slots[slot].downloads;
    int left = 0;
    for (int i = 0; i < g->count; i++)
        left += g->passes[i].kind == kind;
    for (int i = 0; i < g->count; i++) {
        if (g->passes[i].kind != kind)
            continue;
        wait_for_units(cuda, g, p->slots[slot].events, i);
        if (!marked && (up || left == 1))
            record(cuda, marks[0], stream);
        marked |= up;
        left--;
        run_transfer(cuda, p, slot, i, &memory[g->passes[i].transfer.host]);
        signal_unit(cuda, &p->slots[slot].events[i], stream);
    }
    record(cuda, marks[1], stream);
}

static void cuda_run(backend *b, void *compiled, int slot, const struct backend_frame *frame) {
    backend_cuda *cuda = cuda_of(b);
    cuda_program *p = static_cast<cuda_program *>(compiled);
    cuda_slot *s = &cuda->slots[slot];
    cudaStream_t stream = static_cast<cudaStream_t>(frame->stream);
    enter(cuda);
    if (frame->ordered) {
        note(cuda, cudaEventRecord(s->begun, stream), "an event");
        wait_for(cuda, cuda->streams[STREAM_UPLOAD], s->begun, false);
    }
    run_transfers(cuda, p, slot, PASS_UPLOAD, frame->memory);
    run_stages(cuda, p, slot);
    note(cuda, cudaEventRecord(s->stages_done, cuda->streams[STREAM_MAIN]), "an event");
    run_transfers(cuda, p, slot, PASS_DOWNLOAD, frame->memory);
    wait_for(cuda, cuda->stream, s->stages_done, false);
    wait_for(cuda, cuda->stream, s->uploads[1], false); /* a mark that no stage waits for */
    record(cuda, s->finished, STREAM_DOWNLOAD);
    if (frame->ordered)
        wait_for(cuda, stream, s->finished, false);
    s->program = p;
}

static double elapsed_ms(cudaEvent_t from, cudaEvent_t to) {
    float ms = 0;
    if (cudaEventElapsedTime(&ms, from, to) != cudaSuccess)
        cudaGetLastError();
    return ms;
}

/* From the first transfer of a kind to the last; 0 where the graph has none. */
static double transfers_ms(const struct graph *g, enum pass_kind kind, const cudaEvent_t marks[2]) {
    for (int i = 0; i < g->count; i++)
        if (g->passes[i].kind == kind)
            return elapsed_ms(marks[0], marks[1]);
    return 0;
}

static void note_stage_times(cuda_slot *s, const struct graph *g,
                             const struct unit_events *events) {
    cudaEvent_t begun[STREAMS] = {}, first = nullptr;
    memset(s->ms, 0, sizeof(s->ms));
    for (int i = 0; i < g->count; i++) {
        const struct pass *pass = &g->passes[i];
        if (events[i].begun)
            begun[pass->stream] = events[i].begun;
        first = first ? first : events[i].begun;
        if (!events[i].ended)
            continue;
        s->ms[pass->group] += elapsed_ms(begun[pass->stream], events[i].ended);
        s->ms[GROUP_STAGES] = fmax(s->ms[GROUP_STAGES], elapsed_ms(first, events[i].ended));
    }
}

static void note_times(cuda_slot *s, const struct program_slot *program, const struct graph *g) {
    if (program->timed)
        note_stage_times(s, g, program->events);
    s->ms[GROUP_UPLOAD] = transfers_ms(g, PASS_UPLOAD, s->uploads);
    s->ms[GROUP_DOWNLOAD] = transfers_ms(g, PASS_DOWNLOAD, s->downloads);
}

static int cuda_wait(backend *b, int slot) {
    backend_cuda *cuda = cuda_of(b);
    cuda_slot *s = &cuda->slots[slot];
    const cuda_program *p = s->program;
    if (p) {
        fill_maps(cuda, p, slot);
        note(cuda, cudaEventSynchronize(s->finished), "a frame");
        note_times(s, &p->slots[slot], p->g);
        s->program = nullptr;
    }
    return first_failure(cuda);
}

static bool cuda_is_done(backend *b, int slot) {
    const cuda_slot *s = &cuda_of(b)->slots[slot];
    return !s->program || cudaEventQuery(s->finished) != cudaErrorNotReady;
}

static void cuda_times(backend *b, int slot, double *ms) {
    memcpy(ms, cuda_of(b)->slots[slot].ms, sizeof(cuda_of(b)->slots[slot].ms));
}

/* ---- opening and closing */

static void cuda_close(backend **b) {
    if (!*b)
        return;
    backend_cuda *cuda = cuda_of(*b);
    for (const cuda_slot &s : cuda->slots)
        for (cudaEvent_t event : {s.uploads[0], s.uploads[1], s.downloads[0], s.downloads[1],
                                  s.begun, s.stages_done, s.finished})
            destroy_event(event);
    for (const cuda_slot &s : cuda->slots)
        cudaFreeHost(s.staging);
    thread_pool_close(&cuda->pool);
    destroy_event(cuda->fork);
    destroy_event(cuda->part);
    for (cudaStream_t stream : cuda->streams)
        if (stream)
            cudaStreamDestroy(stream);
    for (cudaStream_t stream : cuda->beside)
        if (stream)
            cudaStreamDestroy(stream);
    cudaGetLastError();
    free(cuda);
    *b = nullptr;
}

static cudaError_t open_streams(backend_cuda *cuda) {
    for (cudaStream_t &stream : cuda->streams)
        if (cudaError_t code = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, URGENT))
            return code;
    for (cudaStream_t &stream : cuda->beside)
        if (cudaError_t code = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))
            return code;
    create(cuda, &cuda->fork, cudaEventDisableTiming);
    create(cuda, &cuda->part, cudaEventDisableTiming);
    for (cuda_slot &s : cuda->slots) {
        for (cudaEvent_t *event : {&s.uploads[0], &s.uploads[1], &s.downloads[0], &s.downloads[1]})
            create(cuda, event, cudaEventDefault);
        create(cuda, &s.begun, cudaEventDisableTiming);
        create(cuda, &s.stages_done, cudaEventDisableTiming);
        create(cuda, &s.finished, cudaEventDisableTiming);
    }
    cuda->stream = cuda->streams[STREAM_MAIN];
    return cuda->error ? cudaErrorUnknown : cudaSuccess;
}

static int open_device(backend_cuda *cuda, int gpu, bool quiet) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && gpu >= count)
        code = cudaErrorInvalidDevice;
    if (code == cudaSuccess)
        code = cudaSetDevice(gpu);
    if (code == cudaSuccess)
        code = open_streams(cuda);
    if (code == cudaSuccess) { /* a device too old for this build's code shows itself here */
        cudaFuncAttributes attributes;
        code = cudaFuncGetAttributes(&attributes, kernel_message);
    }
    cudaGetLastError();
    if (code != cudaSuccess && !quiet)
        log_error("cuda",
                  "GPU %d cannot be used: %s (%d found); see nvidia-smi, or use backend=cpu", gpu,
                  cudaGetErrorString(code), count);
    return code == cudaSuccess ? 0 : -ENODEV;
}

static void optimise(backend_cuda *cuda) {
    /* agreement comes before steady bits, doubt about one part of a map before another's choice */
    for (enum stage stage : {STAGE_edges, STAGE_steady_bits, STAGE_arms, STAGE_refine_choose})
        cuda->yields[stage] = true;
    cuda_use_units(cuda);
#define CUDA_LAUNCH(name) cuda->launches[STAGE_##name] = cuda_launch_##name;
    CUDA_STAGES(CUDA_LAUNCH)
#undef CUDA_LAUNCH
}

static void fill_table(struct backend *b) {
    b->own_memory = true;
    b->alloc = cuda_alloc;
    b->release = cuda_release;
    b->copy = cuda_copy;
    b->compile = cuda_compile;
    b->discard = cuda_discard;
    b->run = cuda_run;
    b->wait = cuda_wait;
    b->is_done = cuda_is_done;
    b->times = cuda_times;
    b->close = cuda_close;
}

struct backend *backend_cuda_open(int gpu, enum backend_variant variant, bool quiet, int *error) {
    backend_cuda *cuda = static_cast<backend_cuda *>(calloc(1, sizeof(backend_cuda)));
    *error = cuda ? open_device(cuda, gpu, quiet) : -ENOMEM;
    if (*error) {
        backend *b = cuda ? &cuda->base : nullptr;
        cuda_close(&b);
        return nullptr;
    }
    bool plain = variant == VARIANT_PLAIN;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, gpu);
    cuda->device = gpu;
    cuda->capability = 10 * properties.major + properties.minor;
    cuda->processors = properties.multiProcessorCount;
    cuda->threads = properties.maxThreadsPerMultiProcessor;
    cuda->max_shared = properties.sharedMemPerBlockOptin;
    snprintf(cuda->base.name, sizeof(cuda->base.name), "cuda (%s%.100s)", plain ? "plain, " : "",
             properties.name);
    fill_table(&cuda->base);
    cuda->base.overlap_bytes = plain ? 0 : OVERLAP_BYTES;
    memcpy(cuda->launches, plain_launches, sizeof(cuda->launches));
    cuda->plain = plain_launches;
    cuda->base.slots = plain ? 1 : MAX_SLOTS;
    if (!plain)
        optimise(cuda);
    return &cuda->base;
}
