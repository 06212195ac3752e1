/*
 * See cuda_runtime.h beside it.
 * SPDX-License-Identifier: MIT
 */
#include <cuda_runtime.h>

#include <cassert>
#include <csetjmp>
#include <memory>
#include <ucontext.h>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace {

enum { LANES = 32, STACK = 256 << 10 };

struct coroutine {
    ucontext_t context;
    jmp_buf place;
    std::unique_ptr<char[]> stack;
    bool begun, ended;
};

/* The warp that runs. Contexts begin coroutines; jumps, which make no system calls, change between
 * them. */
coroutine lanes[LANES];
ucontext_t begin;
jmp_buf scheduler;
uint32_t given[2][LANES];
int exchanges[LANES], lane;
const std::function<void()> *body;

void run_lane() {
    (*body)();
    lanes[lane].ended = true;
    _longjmp(scheduler, 1);
}

void go_on(coroutine *c) {
    if (_setjmp(scheduler))
        return;
    if (c->begun)
        _longjmp(c->place, 1);
    c->begun = true;
    swapcontext(&begin, &c->context);
}

void start_lane(int i) {
    coroutine &c = lanes[i];
    if (!c.stack)
        c.stack.reset(new char[STACK]);
    getcontext(&c.context);
    c.context.uc_stack.ss_sp = c.stack.get();
    c.context.uc_stack.ss_size = STACK;
    c.context.uc_link = nullptr;
    c.begun = c.ended = false;
    exchanges[i] = 0;
    makecontext(&c.context, run_lane, 0);
}

/* All lanes run up to their next exchange, until all have ended: together, or the kernel exchanges
 * values with threads that are gone. */
void run_warp(unsigned first, dim3 block) {
    for (int i = 0; i < LANES; i++)
        start_lane(i);
    for (bool ended = false; !ended;) {
        for (lane = 0; lane < LANES; lane++) {
            unsigned number = first + (unsigned)lane;
            threadIdx =
                dim3(number % block.x, number / block.x % block.y, number / block.x / block.y);
            go_on(&lanes[lane]);
        }
        ended = lanes[0].ended;
        for (int i = 0; i < LANES; i++)
            assert(lanes[i].ended == ended && exchanges[i] == exchanges[0]);
    }
}

} // namespace

int emulated_lane() {
    return lane;
}

const uint32_t *emulated_exchange(uint32_t value) {
    int here = lane, buffer = exchanges[here]++ & 1;
    given[buffer][here] = value;
    if (!_setjmp(lanes[here].place))
        _longjmp(scheduler, 1);
    return given[buffer];
}

void emulated_run(dim3 grid, dim3 block, const std::function<void()> &thread) {
    unsigned threads = block.x * block.y * block.z;
    assert(threads % LANES == 0);
    body = &thread;
    gridDim = grid;
    blockDim = block;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++)
                for (unsigned warp = 0; warp < threads; warp += LANES) {
                    blockIdx = dim3(x, y, z);
                    run_warp(warp, block);
                }
}
