/*
 * The CUDA backend: every stage as a kernel with a thread a pixel; a stream for each lane.
 * The tuned kernels of other files replace entries of its launch table and give the same bytes.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "gpu/backend_cuda.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define STAGE_ROW(name, arguments)                                                             \
    static __global__ void kernel_##name(const arguments##_args args, int width, int height) { \
        int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                  \
        int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);                                  \
        if (x < width && y < height)                                                           \
            stage_##name(&args, x, y);                                                         \
    }                                                                                          \
    static void launch_##name(struct backend_cuda *cuda, const void *args, int width,          \
                              int height) {                                                    \
        dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);                          \
        kernel_##name<<<grid, block, 0, cuda->stream>>>(                                       \
            *static_cast<const arguments##_args *>(args), width, height);                      \
    }
#include "gpu/stages.def"
#undef STAGE_ROW

static const cuda_launch plain_launches[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments) launch_##name,
#include "gpu/stages.def"
#undef STAGE_ROW
};

static backend_cuda *cuda_of(backend *b) {
    return reinterpret_cast<backend_cuda *>(b);
}

/* Remembers and says the first failure since the last finish. */
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

/* A thread that comes for the first time is on GPU 0. */
static void enter(const backend_cuda *cuda) {
    if (cudaSetDevice(cuda->device) != cudaSuccess)
        cudaGetLastError();
}

static void *cuda_alloc(backend *b, size_t bytes) {
    void *memory = nullptr;
    enter(cuda_of(b));
    if (cudaMalloc(&memory, bytes ? bytes : 1) == cudaSuccess)
        return memory;
    cudaGetLastError();
    size_t left = 0, all = 0;
    cudaMemGetInfo(&left, &all);
    log_error(b->name, "no room for %zu MiB on the GPU: %zu of %zu MiB are free", bytes >> 20,
              left >> 20, all >> 20);
    return nullptr;
}

static void cuda_release(backend *b, void *memory) {
    cudaError_t code = cudaFree(memory);
    if (cuda_of(b)->failed) /* then memory may have gone with the device */
        cudaGetLastError();
    else
        note(cuda_of(b), code, "freeing GPU memory");
}

static void *cuda_alloc_host(backend *b, size_t bytes) {
    void *memory = nullptr;
    enter(cuda_of(b));
    if (cudaMallocHost(&memory, bytes ? bytes : 1) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return nullptr;
}

static void cuda_release_host(backend *b, void *memory) {
    if (memory)
        note(cuda_of(b), cudaFreeHost(memory), "freeing pinned memory");
}

static void cuda_upload(backend *b, void *to, const void *from, size_t bytes) {
    backend_cuda *cuda = cuda_of(b);
    enter(cuda); /* every frame's stages come after an upload */
    note(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, cuda->stream), "upload");
}

static void cuda_download(backend *b, void *to, const void *from, size_t bytes) {
    backend_cuda *cuda = cuda_of(b);
    note(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, cuda->stream), "download");
}

static void cuda_copy(backend *b, void *to, const void *from, size_t bytes) {
    backend_cuda *cuda = cuda_of(b);
    note(cuda, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda->stream), "copy");
}

static void cuda_run(backend *b, enum stage stage, const void *args, int width, int height) {
    backend_cuda *cuda = cuda_of(b);
    cuda->launches[stage](cuda, args, width, height);
    cuda_check(cuda, stage_names[stage]);
}

/* An event that is read outside of a recording is noted beside it, so that the next stage follows
 * the last one directly. */
static void note_event(backend_cuda *cuda, cudaEvent_t event, const char *what) {
    if (!cuda->recording) {
        note(cuda, cudaEventRecord(event, cuda->stream), what);
        return;
    }
    note(cuda, cudaEventRecord(cuda->parting, cuda->stream), what);
    note(cuda, cudaStreamWaitEvent(cuda->beside, cuda->parting, 0), what);
    note(cuda, cudaEventRecordWithFlags(event, cuda->beside, cudaEventRecordExternal), what);
    cuda->parted = 1;
}

/* Before a recording ends. */
static void join_beside(backend_cuda *cuda) {
    if (!cuda->parted)
        return;
    cuda->parted = 0;
    note(cuda, cudaEventRecord(cuda->joining, cuda->beside), "recording a frame");
    note(cuda, cudaStreamWaitEvent(cuda->stream, cuda->joining, 0), "recording a frame");
}

static void cuda_mark(backend *b, int i) {
    note_event(cuda_of(b), cuda_of(b)->marks[i], "time mark");
}

static void drop_graph(backend_cuda *cuda, cuda_recording *r) {
    if (r->graph)
        note(cuda, cudaGraphExecDestroy(r->graph), "dropping a graph");
    r->graph = nullptr;
}

/* Settings that change with every frame are not worth a graph: the second frame of a number is
 * recorded. */
static int cuda_begin(backend *b, uint64_t number) {
    backend_cuda *cuda = cuda_of(b);
    cuda_recording *r = &cuda->recordings[number % BACKEND_RECORDINGS];
    if (r->graph && r->number == number) {
        note(cuda, cudaGraphLaunch(r->graph, cuda->stream), "a frame's graph");
        return 1;
    }
    drop_graph(cuda, r);
    if (r->number == number) {
        cudaError_t code = cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal);
        cuda->recording = code == cudaSuccess ? r : nullptr;
        note(cuda, code, "recording a frame");
    }
    r->number = number;
    return 0;
}

static void cuda_end(backend *b) {
    backend_cuda *cuda = cuda_of(b);
    cuda_recording *r = cuda->recording;
    if (!r)
        return;
    join_beside(cuda);
    cuda->recording = nullptr;
    cudaGraph_t recorded = nullptr;
    note(cuda, cudaStreamEndCapture(cuda->stream, &recorded), "recording a frame");
    if (!recorded)
        return;
    note(cuda, cudaGraphInstantiate(&r->graph, recorded, 0), "making a graph");
    note(cuda, cudaGraphDestroy(recorded), "dropping a recording");
    if (r->graph)
        note(cuda, cudaGraphLaunch(r->graph, cuda->stream), "a frame's graph");
}

static double cuda_elapsed_ms(backend *b, int from, int to) {
    float ms = 0;
    backend_cuda *cuda = cuda_of(b);
    if (cudaEventElapsedTime(&ms, cuda->marks[from], cuda->marks[to]) != cudaSuccess)
        cudaGetLastError();
    return ms;
}

static void cuda_lane(backend *b, enum backend_lane lane) {
    cuda_of(b)->stream = cuda_of(b)->lanes[lane];
}

static void cuda_signal(backend *b, int i) {
    backend_cuda *cuda = cuda_of(b);
    if (i >= BACKEND_INNER_SIGNALS)
        note_event(cuda, cuda->signals[i], "a signal");
    else
        note(cuda, cudaEventRecord(cuda->signals[i], cuda->stream), "a signal");
}

static void cuda_wait(backend *b, int i) {
    backend_cuda *cuda = cuda_of(b);
    bool outer = cuda->recording && i >= BACKEND_INNER_SIGNALS;
    note(cuda,
         cudaStreamWaitEvent(cuda->stream, cuda->signals[i],
                             outer ? cudaEventWaitExternal : cudaEventWaitDefault),
         "a signal");
}

static int first_failure(backend_cuda *cuda) {
    int error = cuda->error;
    cuda->error = 0;
    return error;
}

static int cuda_finish(backend *b) {
    backend_cuda *cuda = cuda_of(b);
    for (cudaStream_t lane : cuda->lanes)
        note(cuda, cudaStreamSynchronize(lane), "a frame");
    return first_failure(cuda);
}

static int cuda_finish_signal(backend *b, int i) {
    backend_cuda *cuda = cuda_of(b);
    note(cuda, cudaEventSynchronize(cuda->signals[i]), "a frame");
    return first_failure(cuda);
}

static void cuda_close(backend **b) {
    if (!*b)
        return;
    backend_cuda *cuda = cuda_of(*b);
    for (cuda_recording &r : cuda->recordings)
        drop_graph(cuda, &r);
    for (cudaEvent_t mark : cuda->marks)
        if (mark)
            cudaEventDestroy(mark);
    for (cudaEvent_t signal : cuda->signals)
        if (signal)
            cudaEventDestroy(signal);
    for (cudaEvent_t event : {cuda->parting, cuda->joining})
        if (event)
            cudaEventDestroy(event);
    for (cudaStream_t lane : cuda->lanes)
        if (lane)
            cudaStreamDestroy(lane);
    if (cuda->beside)
        cudaStreamDestroy(cuda->beside);
    cudaGetLastError();
    free(cuda);
    *b = nullptr;
}

static int open_device(backend_cuda *cuda, int gpu, int quiet) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaSuccess && gpu >= count)
        code = cudaErrorInvalidDevice;
    if (code == cudaSuccess)
        code = cudaSetDevice(gpu);
    for (int i = 0; i < LANES && code == cudaSuccess; i++)
        code = cudaStreamCreateWithFlags(&cuda->lanes[i], cudaStreamNonBlocking);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithFlags(&cuda->beside, cudaStreamNonBlocking);
    for (cudaEvent_t *event : {&cuda->parting, &cuda->joining})
        if (code == cudaSuccess)
            code = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
    for (int i = 0; i < BACKEND_SIGNALS && code == cudaSuccess; i++)
        code = cudaEventCreateWithFlags(&cuda->signals[i], cudaEventDisableTiming);
    cuda->stream = cuda->lanes[LANE_COMPUTE];
    for (int i = 0; i < BACKEND_MARKS && code == cudaSuccess; i++)
        code = cudaEventCreate(&cuda->marks[i]);
    if (code == cudaSuccess) { /* a device too old for this build's code shows itself here */
        cudaFuncAttributes attributes;
        code = cudaFuncGetAttributes(&attributes, kernel_message);
    }
    cudaGetLastError();
    if (code != cudaSuccess && !quiet)
        log_error("cuda",
                  "GPU %d cannot be used: %s (%d found); see nvidia-smi, or use --set backend=cpu",
                  gpu, cudaGetErrorString(code), count);
    return code == cudaSuccess ? 0 : -ENODEV;
}

struct backend *backend_cuda_open(int gpu, int plain, int quiet, int *error) {
    backend_cuda *cuda = static_cast<backend_cuda *>(calloc(1, sizeof(backend_cuda)));
    *error = cuda ? open_device(cuda, gpu, quiet) : -ENOMEM;
    if (*error) {
        backend *b = cuda ? &cuda->base : nullptr;
        cuda_close(&b);
        return nullptr;
    }
    cuda->device = gpu;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, gpu);
    cuda->capability = 10 * properties.major + properties.minor;
    cuda->processors = properties.multiProcessorCount;
    cuda->shared_most = properties.sharedMemPerBlockOptin;
    snprintf(cuda->base.name, sizeof(cuda->base.name), "cuda (%s%.100s)", plain ? "plain, " : "",
             properties.name);
    cuda->base.own_memory = 1;
    cuda->base.alloc = cuda_alloc;
    cuda->base.release = cuda_release;
    cuda->base.alloc_host = cuda_alloc_host;
    cuda->base.release_host = cuda_release_host;
    cuda->base.upload = cuda_upload;
    cuda->base.download = cuda_download;
    cuda->base.copy = cuda_copy;
    cuda->base.run = cuda_run;
    cuda->base.begin = plain ? nullptr : cuda_begin;
    cuda->base.end = cuda_end;
    cuda->base.mark = cuda_mark;
    cuda->base.elapsed_ms = cuda_elapsed_ms;
    cuda->base.lane = plain ? nullptr : cuda_lane;
    cuda->base.signal = cuda_signal;
    cuda->base.wait = cuda_wait;
    cuda->base.finish_signal = cuda_finish_signal;
    cuda->base.finish = cuda_finish;
    cuda->base.close = cuda_close;
    memcpy(cuda->launches, plain_launches, sizeof(cuda->launches));
    cuda->plain = plain_launches;
    if (!plain) {
        cuda_tune_match(cuda);
        cuda_tune_cost(cuda);
        cuda_tune_cross(cuda);
        cuda_tune_bp(cuda);
        cuda_tune_rest(cuda);
        cuda_tune_warm(cuda);
        cuda_tune_image(cuda);
        cuda_tune_colour(cuda);
        cuda_tune_refine(cuda);
    }
    return &cuda->base;
}
