/*
 * Stands in for CUDA's header of this name where there is no GPU: kernels that launch_dependent()
 * launches run on the processor, block by block. The threads of a block are coroutines, which
 * change where threads of a warp exchange values or wait for each other. What the memory of a GPU
 * does, and how long anything takes, it does not show.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <algorithm>
#include <cassert>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static /* blocks run one after the other */
#define DYNAMIC_SHARED(type, name)                \
    static type name[(228 << 10) / sizeof(type)]; \
    emulated_shared = reinterpret_cast<uintptr_t>(name)

/* Addresses of shared memory count from here. */
extern uintptr_t emulated_shared;
inline size_t __cvta_generic_to_shared(const void *p) {
    return reinterpret_cast<uintptr_t>(p) - emulated_shared;
}
inline void *__cvta_shared_to_generic(size_t address) {
    return reinterpret_cast<void *>(emulated_shared + address);
}

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {
    }
};
struct uint2 {
    uint32_t x, y;
};
struct uint4 {
    uint32_t x, y, z, w;
};
inline uint2 make_uint2(uint32_t x, uint32_t y) {
    return {x, y};
}
inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
    return {x, y, z, w};
}

/* Of the thread that runs. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

using std::max;
using std::min;

template <typename T> T __ldg(const T *from) {
    return *from;
}
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t by) {
    return by ? high << by | low >> (32 - by) : high;
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t by) {
    return by ? low >> by | high << (32 - by) : low;
}
inline uint32_t __usad(uint32_t a, uint32_t b, uint32_t sum) {
    return sum + (a > b ? a - b : b - a);
}
inline uint32_t __vcmpeq4(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (int i = 0; i < 32; i += 8)
        out |= (a >> i & 255) == (b >> i & 255) ? 255u << i : 0;
    return out;
}
inline uint32_t __vsadu4(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (uint32_t)std::abs((int)(a >> i & 255) - (int)(b >> i & 255));
    return sum;
}
inline uint32_t __vminu4(uint32_t a, uint32_t b) {
    uint32_t least = 0;
    for (int i = 0; i < 32; i += 8)
        least |= std::min(a >> i & 255, b >> i & 255) << i;
    return least;
}
inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8)
        sum += (int8_t)(a >> i) * (int8_t)(b >> i);
    return sum;
}
inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t sum) {
    for (int i = 0; i < 32; i += 8)
        sum += (a >> i & 255) * (b >> i & 255);
    return sum;
}
inline int __popc(uint32_t v) {
    return __builtin_popcount(v);
}
inline uint32_t __vmaxu4(uint32_t a, uint32_t b) {
    return ~__vminu4(~a, ~b);
}
inline uint32_t __vabsdiffu4(uint32_t a, uint32_t b) {
    uint32_t out = 0;
    for (int i = 0; i < 32; i += 8)
        out |= __vsadu4(a & 255u << i, b & 255u << i) << i;
    return out;
}
template <typename T> T atomicAdd(T *at, T value) {
    T old = *at;
    *at += value;
    return old;
}
template <typename T> T atomicCAS(T *at, T expected, T value) {
    T old = *at;
    *at = old == expected ? value : old;
    return old;
}
inline int atomicMax(int *at, int value) {
    int old = *at;
    *at = std::max(old, value);
    return old;
}
template <typename T> T atomicMin(T *at, T value) {
    T old = *at;
    *at = std::min(old, value);
    return old;
}
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t choice) {
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++)
        out |= (uint32_t)(both >> 8 * (choice >> 4 * i & 7) & 255) << 8 * i;
    return out;
}
inline float __saturatef(float v) {
    return v > 0 ? std::min(v, 1.0f) : 0; /* of NaN, too */
}
inline uint32_t __umulhi(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}
inline int __clz(int v) {
    return v ? __builtin_clz((unsigned)v) : 32;
}
inline int __ffs(int v) {
    return __builtin_ffs(v);
}

/* Gives value to the other threads of the warp; the values that all 32 gave lie at the result until
 * the next exchange but one. */
const uint32_t *emulated_exchange(uint32_t value);
int emulated_lane();

/* Waits until all threads of the block are here. */
void __syncthreads();

/* In how many of them value is true. */
int __syncthreads_count(bool value);

inline void __syncwarp() {
    emulated_exchange(0);
}
inline uint32_t __ballot_sync(uint32_t, bool value) {
    const uint32_t *given = emulated_exchange(value);
    uint32_t bits = 0;
    for (int i = 0; i < 32; i++)
        bits |= given[i] << i;
    return bits;
}
inline bool __any_sync(uint32_t lanes, bool value) {
    return __ballot_sync(lanes, value);
}
inline bool __all_sync(uint32_t lanes, bool value) {
    return __ballot_sync(lanes, value) == ~0u;
}
inline uint32_t __shfl_sync(uint32_t, uint32_t value, int lane) {
    return emulated_exchange(value)[lane & 31];
}
inline uint32_t __shfl_xor_sync(uint32_t, uint32_t value, int mask) {
    return emulated_exchange(value)[emulated_lane() ^ mask];
}
inline uint32_t __shfl_up_sync(uint32_t, uint32_t value, int step) {
    int from = emulated_lane() - step;
    return emulated_exchange(value)[from < 0 ? emulated_lane() : from];
}
inline uint32_t __shfl_down_sync(uint32_t, uint32_t value, int step) {
    int from = emulated_lane() + step;
    return emulated_exchange(value)[from > 31 ? emulated_lane() : from];
}

/* What headers name. */
typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
enum { cudaLaunchAttributePriority, cudaLaunchAttributeProgrammaticStreamSerialization };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
/* Bytes that a kernel may ask for: the least that it was ever given, since a handle of another
 * thread may have set it just before the launch. */
inline int &emulated_limit(const void *kernel) {
    static std::map<const void *, int> limits;
    return limits.emplace(kernel, INT_MAX).first->second;
}
template <typename Kernel> int cudaFuncSetAttribute(Kernel kernel, int, int bytes) {
    int &limit = emulated_limit((const void *)kernel);
    limit = bytes < limit ? bytes : limit;
    return 0;
}
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
};
/* Every other time as of a GPU that does not have the kernel, only an empty one. */
template <typename Kernel> int cudaFuncGetAttributes(cudaFuncAttributes *to, Kernel) {
    static unsigned asked;
    to->sharedSizeBytes = asked++ % 2 ? 16 << 10 : 0; /* at most */
    return 0;
}
struct cudaLaunchAttribute {
    int id;
    struct {
        int priority, programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    cudaLaunchAttribute *attributes;
    unsigned count;
};

/* Runs every thread of every block; returns when all have ended. */
void emulated_run(dim3 grid, dim3 block, const std::function<void()> &thread);

template <typename... Parameters, typename... Arguments>
int cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                       const Arguments &...arguments) {
    int limit = emulated_limit((const void *)kernel);
    assert(config->shared <= (size_t)(limit == INT_MAX ? 48 << 10 : limit));
    emulated_run(config->grid, config->block, [&] { kernel(arguments...); });
    return 0;
}
