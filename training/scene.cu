/*
 * The ray caster and what the network sees, for refinement.py by ctypes: nvcc -shared.
 * SPDX-License-Identifier: MIT
 */
#include "training/scene_lot.h"

enum { TILE_X = 16, TILE_Y = 8, TILE = TILE_X * TILE_Y };

extern "C" int scene_bytes(void) {
    return sizeof(struct scene);
}

/* textures: photographs, drawn, waves. pixels: on the host. largest: disparity of each scene. */
extern "C" void scenes_draw(struct scene *s, int count, uint64_t seed, const uint8_t *pixels,
                            const int textures[3], int width, int height, int kind,
                            float *largest) {
    struct textures t = {pixels, textures[0], textures[1], textures[2]};
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; i++) {
        draw_scene(&s[i], seed + (uint64_t)i, &t, width, height, kind < 0 ? NULL : &kinds[kind], 1);
        largest[i] = s[i].largest;
    }
}

/* Lists the solids that rays through a tile of one camera's picture may meet. */
__device__ static int list_solids(const struct scene *s, int side, int x, int y, uint8_t *list) {
    __shared__ int count;
    struct space space = frustum(s, side, x, y, TILE_X, TILE_Y);
    if (threadIdx.x + threadIdx.y == 0)
        count = 0;
    __syncthreads();
    for (int i = threadIdx.y * TILE_X + threadIdx.x; i < s->solids; i += TILE)
        if (space_meets(&space, &s->solid[i]))
            list[atomicAdd(&count, 1)] = (uint8_t)i;
    __syncthreads();
    return count;
}

__global__ static void __launch_bounds__(TILE)
    cast_kernel(const struct scene *scenes, const uint8_t *pixels, uint8_t *rgb, float *d,
                uint8_t *seen, int width, int height) {
    __shared__ uint8_t list[SOLIDS];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    int i = blockIdx.z / 2, side = blockIdx.z % 2;
    const struct scene *s = scenes + i;
    int count = list_solids(s, side, blockIdx.x * TILE_X, blockIdx.y * TILE_Y, list);
    if (x >= width || y >= height)
        return;
    size_t pixel = (size_t)y * width + x, all = (size_t)width * height;
    cast_colour(s, pixels, list, count, NULL, side, x, y, rgb + 3 * (blockIdx.z * all + pixel));
    if (!side)
        d[i * all + pixel] = cast_disparity(s, pixels, list, count, x, y, seen + i * all + pixel);
}

/* All on the GPU: rgb of left, right of each scene, d and seen of each left pixel. */
extern "C" int scenes_cast(const struct scene *s, int count, const uint8_t *pixels, uint8_t *rgb,
                           float *d, uint8_t *seen, int width, int height, cudaStream_t stream) {
    dim3 tiles((width + TILE_X - 1) / TILE_X, (height + TILE_Y - 1) / TILE_Y, 2 * count);
    cast_kernel<<<tiles, dim3(TILE_X, TILE_Y), 0, stream>>>(s, pixels, rgb, d, seen, width, height);
    return (int)cudaGetLastError();
}

/* choice.evidence_at() for all candidates: like and differ, [pair][candidate][pixel]. */
__global__ static void evidence_kernel(const int16_t *candidates, const uint8_t *left,
                                       const uint8_t *right, const int4 *own, const int4 *other,
                                       uint8_t *like, uint8_t *differ, int count, int width,
                                       int height, int channels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    size_t all = (size_t)width * height, row = blockIdx.z * all + (size_t)y * width;
    for (int k = 0; k < count; k++) {
        size_t out = (blockIdx.z * (size_t)count + k) * all + (size_t)y * width + x;
        int at = 16 * x - candidates[out], part = at & 15, sum = 0, dot[2] = {0, 0};
        size_t there[2];
        for (int i = 0; i < 2; i++) {
            there[i] = row + min(max((at >> 4) + i, 0), width - 1);
            for (int j = 0; j < 4; j++) {
                int4 a = own[4 * (row + x) + j], b = other[4 * there[i] + j];
                dot[i] =
                    __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, dot[i]))));
            }
        }
        for (int c = 0; c < channels; c++)
            sum += abs(16 * left[channels * (row + x) + c] -
                       right[channels * there[0] + c] * (16 - part) -
                       right[channels * there[1] + c] * part);
        int cosine = (dot[0] * (16 - part) + dot[1] * part) >> 4;
        like[out] = (uint8_t)min(max(cosine >> 7, 0), 127);
        differ[out] = (uint8_t)min((2 * sum / channels) >> 4, 127);
    }
}

extern "C" int evidence_find(const int16_t *candidates, const uint8_t *left, const uint8_t *right,
                             const int4 *own, const int4 *other, uint8_t *like, uint8_t *differ,
                             int pairs, int count, int width, int height, int channels,
                             cudaStream_t stream) {
    evidence_kernel<<<dim3((width + 127) / 128, height, pairs), 128, 0, stream>>>(
        candidates, left, right, own, other, like, differ, count, width, height, channels);
    return (int)cudaGetLastError();
}
