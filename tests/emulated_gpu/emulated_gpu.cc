/*
 * See cuda_runtime.h beside it.
 * SPDX-License-Identifier: MIT
 */
#include <cuda_runtime.h>

#include <cassert>
#include <memory>
#include <ucontext.h>

dim3 threadIdx, blockIdx, blockDim, gridDim;
uintptr_t emulated_shared;

namespace {

/* Stacks begin at places of their own in the caches' sets. */
enum { LANES = 32, WARPS = 32, STACK = 256 << 10, STEP = 17 * 64 };

using place = void *[5]; /* of __builtin_setjmp */

struct coroutine {
    place at;
    std::unique_ptr<char[]> stack; /* none yet: it has not run in any block */
    dim3 index;
    bool begun, ended; /* in this block */
    int exchanges, barriers;
};

struct warp {
    coroutine lanes[LANES];
    uint32_t given[2][LANES];
};

/* The block that runs. Contexts begin coroutines, which stay for the blocks that follow; jumps,
 * which make no system calls, change between them. */
warp warps[WARPS], *now;
ucontext_t begin;
place scheduler;
int lane;
const std::function<void()> *body;

/* A function of its own, as __builtin_longjmp asks for. Of this and those that save their place
 * callers may not know which registers they leave alone: others run meanwhile. */
[[gnu::noipa, noreturn]] void jump(place to) {
    __builtin_longjmp(to, 1);
}

[[gnu::noipa]] void wait_for_block() {
    if (__builtin_setjmp(now->lanes[lane].at) == 0)
        jump(scheduler);
}

void run_lane() {
    for (;;) {
        (*body)();
        now->lanes[lane].ended = true;
        wait_for_block();
    }
}

void begin_lane(coroutine *c) {
    ucontext_t context;
    c->stack.reset(new char[STACK]);
    getcontext(&context);
    context.uc_stack.ss_sp = c->stack.get();
    context.uc_stack.ss_size = static_cast<size_t>(STACK - lane * STEP);
    context.uc_link = nullptr;
    makecontext(&context, run_lane, 0);
    swapcontext(&begin, &context);
}

[[gnu::noipa]] void go_on(coroutine *c) {
    if (__builtin_setjmp(scheduler))
        return;
    c->begun = true;
    if (c->stack)
        jump(c->at);
    begin_lane(c);
}

void start_lane(coroutine &c, unsigned number, dim3 block) {
    c.index = dim3(number % block.x, number / block.x % block.y, number / block.x / block.y);
    c.begun = c.ended = false;
    c.exchanges = c.barriers = 0;
}

/* All lanes of a warp run up to their next exchange, and on, until all have ended or wait for the
 * block: together, or the kernel exchanges values with threads that are gone. */
void run_warp() {
    const coroutine &one = now->lanes[0];
    for (int barriers = one.barriers; !one.ended && one.barriers == barriers;) {
        for (lane = 0; lane < LANES; lane++) {
            threadIdx = now->lanes[lane].index;
            go_on(&now->lanes[lane]);
        }
        for (const coroutine &c : now->lanes)
            assert(c.ended == one.ended && c.exchanges == one.exchanges &&
                   c.barriers == one.barriers);
    }
}

/* Each warp in turn up to its next barrier. */
void run_block(unsigned threads, dim3 block) {
    for (unsigned i = 0; i < threads; i++)
        start_lane(warps[i / LANES].lanes[i % LANES], i, block);
    for (bool on = true; on;) {
        on = false;
        for (unsigned first = 0; first < threads; first += LANES) {
            now = &warps[first / LANES];
            run_warp();
            on |= !now->lanes[0].ended;
        }
    }
}

/* To the next lane, without a detour where that waits here, too. */
[[gnu::noipa]] void pause() {
    if (__builtin_setjmp(now->lanes[lane].at))
        return;
    if (lane + 1 == LANES || !now->lanes[lane + 1].begun || now->lanes[lane + 1].ended)
        jump(scheduler);
    threadIdx = now->lanes[++lane].index;
    jump(now->lanes[lane].at);
}

} // namespace

int emulated_lane() {
    return lane;
}

const uint32_t *emulated_exchange(uint32_t value) {
    uint32_t *given = now->given[now->lanes[lane].exchanges++ & 1];
    given[lane] = value;
    pause();
    return given;
}

void __syncthreads() {
    now->lanes[lane].barriers++;
    pause();
}

int __syncthreads_count(bool value) {
    static int sum; /* that of the last call has been read by all */
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0)
        sum = 0;
    __syncthreads();
    sum += value;
    __syncthreads();
    int count = sum;
    __syncthreads();
    return count;
}

void emulated_run(dim3 grid, dim3 block, const std::function<void()> &thread) {
    unsigned threads = block.x * block.y * block.z;
    assert(threads % LANES == 0 && threads <= LANES * WARPS);
    body = &thread;
    gridDim = grid;
    blockDim = block;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                run_block(threads, block);
            }
}
