/*
 * Frames in the memory of a GPU (struct livestereo_image's memory): the same bytes as from pageable
 * host memory, with rows apart, ordered by a stream of the caller's, which no other stream waits
 * for.
 * usage: parity_device [--tap]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
extern "C" {
#include "gpu/handle.h"
}

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int number, failures;

static void ok(bool passed, const char *what) {
    printf("%s %d - %s\n", passed ? "ok" : "not ok", ++number, what);
    failures += !passed;
}

static uint32_t state = 1;

static uint8_t draw() {
    state = state * 1664525u + 1013904223u;
    return (uint8_t)(state >> 24);
}

/* A pair of textures, the left one moved by strips. */
static void make_pair(int width, int height, int labels, std::vector<uint8_t> picture[2]) {
    for (int side = 0; side < 2; side++)
        picture[side].resize((size_t)3 * width * height);
    for (uint8_t &sample : picture[1])
        sample = draw();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int from = x - (y / 40 * 7 + x / 100 * 3) % labels;
            memcpy(&picture[0][3 * ((size_t)y * width + x)],
                   &picture[1][3 * ((size_t)y * width + (from < 0 ? 0 : from))], 3);
        }
}

/* Keeps a stream busy for about so many clock cycles. */
static __global__ void spin(long long cycles) {
    for (long long begin = clock64(); clock64() - begin < cycles;)
        ;
}

struct job {
    livestereo *s;
    int width, height;
    size_t row_bytes[2], map_bytes; /* of pictures by side, of maps' rows */
    uint8_t *picture[2];
    int16_t *disparity;
    uint8_t *confidence;
};

static livestereo_image rows_of(void *data, size_t row_bytes) {
    livestereo_image image = {};
    image.data = data;
    image.row_bytes = (ptrdiff_t)row_bytes;
    return image;
}

static livestereo_frame frame_of(const job &j, long index, cudaStream_t stream) {
    livestereo_frame f = {};
    f.number = index;
    f.left = rows_of(j.picture[0], j.row_bytes[0]);
    f.right = rows_of(j.picture[1], j.row_bytes[1]);
    f.disparity = rows_of(j.disparity, j.map_bytes);
    f.disparity.format = LIVESTEREO_DISP16;
    f.confidence = rows_of(j.confidence, (size_t)j.width);
    f.left.memory = LIVESTEREO_CUDA;
    f.stream = stream;
    return f;
}

static bool take(cudaError_t code) {
    if (code != cudaSuccess)
        printf("# %s\n", cudaGetErrorString(code));
    return code == cudaSuccess;
}

static job open_job(const params &p, int width, int height) {
    int error;
    job j = {};
    j.width = width;
    j.height = height;
    j.s = handle_open(nullptr, &p, width, height, PICTURE_RGB, nullptr, &error);
    j.map_bytes = 2 * (size_t)width + 64;
    for (int side = 0; side < 2; side++) {
        j.row_bytes[side] = 3 * (size_t)width + 32 * side;
        take(cudaMalloc(&j.picture[side], j.row_bytes[side] * height));
    }
    take(cudaMalloc(&j.disparity, j.map_bytes * height));
    take(cudaMalloc(&j.confidence, (size_t)width * height));
    return j;
}

static void close_job(job *j) {
    livestereo_close(&j->s);
    for (uint8_t *picture : j->picture)
        cudaFree(picture);
    cudaFree(j->disparity);
    cudaFree(j->confidence);
}

/* A frame in pageable memory, rows of pictures and maps apart. */
struct host_frame {
    size_t width, height;
    std::vector<uint8_t> picture[2], confidence;
    std::vector<int16_t> disparity;

    host_frame(int w, int h, const std::vector<uint8_t> pair[2])
        : width(w), height(h), confidence((width + 7) * height, 0x55),
          disparity((width + 9) * height, 0x5555) {
        for (int side = 0; side < 2; side++)
            for (size_t y = 0; y < height; y++) {
                picture[side].insert(picture[side].end(), pair[side].begin() + 3 * width * y,
                                     pair[side].begin() + 3 * width * (y + 1));
                picture[side].resize((3 * width + 5 * side) * (y + 1));
            }
    }

    int start(livestereo *s, long number) {
        livestereo_frame f = {};
        f.number = number;
        f.left = rows_of(picture[0].data(), 3 * width);
        f.right = rows_of(picture[1].data(), 3 * width + 5);
        f.disparity = rows_of(disparity.data(), 2 * (width + 9));
        f.disparity.format = LIVESTEREO_DISP16;
        f.confidence = rows_of(confidence.data(), width + 7);
        return handle_start(s, &f);
    }

    /* And nothing is written between the rows. */
    bool has(const std::vector<int16_t> &map, const std::vector<uint8_t> &sure) const {
        bool same = true;
        for (size_t y = 0; y < height; y++) {
            const int16_t *row = &disparity[(width + 9) * y];
            const uint8_t *sure_row = &confidence[(width + 7) * y];
            same = same && !memcmp(row, &map[width * y], 2 * width) &&
                   !memcmp(sure_row, &sure[width * y], width);
            for (size_t x = 0; x < 7; x++)
                same = same && row[width + x] == 0x5555 && sure_row[width + x] == 0x55;
        }
        return same;
    }
};

/* Two frames of the host are in flight at once. Pictures on the device come late in the caller's
 * stream, and the maps are copied from there by work that was queued before the frame was done. */
static void check_bytes(const params &p, int width, int height, int labels) {
    std::vector<uint8_t> picture[2], from_device((size_t)width * height);
    std::vector<int16_t> got((size_t)width * height);
    job j = open_job(p, width, height);
    cudaStream_t stream;
    take(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    bool same = true;
    for (long index = 0; index < 4 && j.s; index++) {
        make_pair(width, height, labels, picture);
        host_frame host(width, height, picture);
        make_pair(width, height, labels, picture);
        host_frame other(width, height, picture);
        same =
            same && host.start(j.s, 300 * index) == 0 && other.start(j.s, 300 * index + 100) == 0;
        same = same && handle_finish(j.s, nullptr) == 0 && handle_finish(j.s, nullptr) == 0;
        for (int side = 0; side < 2; side++)
            take(cudaMemset(j.picture[side], 0x55, j.row_bytes[side] * height));
        take(cudaDeviceSynchronize());
        spin<<<1, 1, 0, stream>>>(20000000);
        const host_frame &one = index % 2 ? host : other;
        for (int side = 0; side < 2; side++)
            take(cudaMemcpy2DAsync(j.picture[side], j.row_bytes[side], one.picture[side].data(),
                                   3 * (size_t)width + 5 * side, 3 * (size_t)width, height,
                                   cudaMemcpyHostToDevice, stream));
        livestereo_frame device = frame_of(j, 300 * index + 200, stream);
        same = same && handle_start(j.s, &device) == 0;
        take(cudaMemcpy2DAsync(got.data(), 2 * (size_t)width, j.disparity, j.map_bytes,
                               2 * (size_t)width, height, cudaMemcpyDeviceToHost, stream));
        take(cudaMemcpyAsync(from_device.data(), j.confidence, from_device.size(),
                             cudaMemcpyDeviceToHost, stream));
        same = same && take(cudaStreamSynchronize(stream));
        same = same && handle_finish(j.s, nullptr) == 0 && one.has(got, from_device);
    }
    char what[80];
    snprintf(what, sizeof(what), "%dx%d, %d labels: from the device as from the host", width,
             height, labels);
    ok(same && j.s, what);
    cudaStreamDestroy(stream);
    close_job(&j);
}

int main() {
    int count;
    params p;
    params_default(&p);
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        printf("1..0 # SKIP needs a GPU\n");
        return getenv("LIVESTEREO_NEED_CUDA") != nullptr;
    }
    p.backend = BACKEND_CUDA;
    p.disparity_range = 32;
    check_bytes(p, 324, 241, 32);
    p.disparity_range = 64;
    check_bytes(p, 640, 480, 64);
    p.disparity_range = 40; /* several threads copy */
    check_bytes(p, 1300, 801, 40);
    printf("1..%d\n", number);
    return failures > 0;
}
