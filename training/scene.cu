/*
 * The ray caster and what the network sees, for scenes.py by ctypes: nvcc -shared.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/refinement.h"
#include "training/scene_lot.h"

enum { TILE_X = 16, TILE_Y = 8, TILE = TILE_X * TILE_Y };

extern "C" int scene_bytes(void) {
    return sizeof(struct scene);
}

/* textures: photographs, drawn, waves. pixels: on the host. largest: disparity of each scene. */
extern "C" void scenes_draw(struct scene *s, int count, uint64_t seed, const uint8_t *pixels,
                            const int textures[3], int width, int height, float *largest) {
    struct textures t = {pixels, textures[0], textures[1], textures[2]};
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < count; i++) {
        draw_scene(&s[i], seed + (uint64_t)i, &t, width, height, NULL, 1);
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

__global__ static void nearest_kernel(struct refine_nearest_args a) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < a.map.width)
        stage_refine_nearest(&a, x, blockIdx.y);
}

__global__ static void features_kernel(struct refine_evidence_args a, int16_t *candidates,
                                       uint8_t *known) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= a.map.width)
        return;
    size_t i = (size_t)y * a.map.width + x, all = refine_plane(&a.map);
    uint8_t out[REFINE_FEATURES];
    refine_features(&a, x, y, out);
    for (int k = 0; k < REFINE_FEATURES; k++)
        a.out[k * all + i] = out[k];
    for (int k = 0; k < REFINE_CANDIDATES; k++)
        candidates[k * all + i] = (int16_t)refine_candidate(&a.map, x, y, k);
    known[i] = refine_known(&a.map, x, y);
}

/* Computes the evidence of a pair, [feature][y][x], by the program's own stages; the candidates,
 * [candidate][y][x]; which pixels passed. own, other: census or vectors of both pictures. */
extern "C" int features_find(const int16_t *d, const uint8_t *confidence, const uint8_t *left,
                             const uint8_t *right, const uint64_t *own, const uint64_t *other,
                             int16_t *nearest, uint8_t *steps, uint8_t *features,
                             int16_t *candidates, uint8_t *known, int width, int height, int census,
                             cudaStream_t stream) {
    struct refine_map map = {d, confidence, nearest, steps, width, height, 0};
    struct refine_nearest_args near = {map};
    struct refine_evidence_args evidence = {map, left, right, own, other, features, 3, census};
    dim3 rows((width + 127) / 128, height);
    nearest_kernel<<<rows, 128, 0, stream>>>(near);
    features_kernel<<<rows, 128, 0, stream>>>(evidence, candidates, known);
    return (int)cudaGetLastError();
}
