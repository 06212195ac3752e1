/*
 * See backend.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

enum { HUGE_PAGE = 2 << 20 };

void *backend_host_alloc(size_t bytes) {
    void *memory = NULL;
    size_t alignment = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : 256;
    if (posix_memalign(&memory, alignment, bytes ? bytes : 1))
        return NULL;
    if (alignment == HUGE_PAGE) /* rows of volumes lie on many small pages */
        madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
}

int backend_plan(struct backend *b, struct graph *g, bool overlaps) {
    return graph_plan(g, overlaps ? b->overlap_bytes : 0, &b->rules);
}

/* Other threads and devices see the bytes after a store fence. */
static void copy_past_caches(char *to, const char *from, size_t bytes) {
    size_t i = 0;
#ifdef __x86_64__
    for (; i < bytes && (uintptr_t)(to + i) % 16; i++)
        to[i] = from[i];
    for (; i + 16 <= bytes; i += 16)
        _mm_stream_si128((__m128i *)(to + i), _mm_loadu_si128((const __m128i *)(from + i)));
#endif
    memcpy(to + i, from + i, bytes - i);
}

void backend_transfer(const struct transfer *t, bool up, bool past_caches, void *inside,
                      const struct image_memory *outside) {
    if (!outside->data)
        return;
    size_t rows = t->bytes / outside->row, kept = outside->kept;
    char *at = (char *)outside->data + t->host_offset / outside->row * outside->pitch;
    if (kept == outside->row && kept == outside->pitch) {
        rows = 1;
        kept = t->bytes;
    }
    for (size_t y = 0; y < rows; y++, at += outside->pitch) {
        char *own = (char *)inside + y * outside->row + outside->first, *to = up ? own : at;
        const char *from = up ? at : own;
        if (past_caches)
            copy_past_caches(to, from, kept);
        else
            memcpy(to, from, kept);
    }
#ifdef __x86_64__
    if (past_caches)
        _mm_sfence();
#endif
}

int backend_run_graph(struct backend *b, struct graph *g, const struct image_memory *memory) {
    void *arena = NULL, *slots[MAX_SLOTS] = {NULL}, *compiled = NULL;
    int error = backend_plan(b, g, false);
    bool taken =
        !error && (!g->arena_bytes || (arena = b->alloc(b, MEMORY_STAGES, g->arena_bytes)));
    for (int i = 0; i < b->slots && taken && g->slot_bytes; i++)
        taken = (slots[i] = b->alloc(b, MEMORY_STAGES, g->slot_bytes));
    if (taken && graph_bind(g, arena, slots, b->slots) == 0)
        compiled = b->compile(b, NULL, g);
    if (!error && !compiled)
        error = -ENOMEM;
    if (compiled) {
        b->run(b, compiled, 0, &(struct backend_frame){.memory = memory});
        error = b->wait(b, 0);
        b->discard(b, compiled);
    }
    for (int i = 0; i < b->slots; i++)
        b->release(b, MEMORY_STAGES, slots[i]);
    b->release(b, MEMORY_STAGES, arena);
    return error;
}

int backend_run_stage(struct backend *b, enum stage stage, const void *args, int width,
                      int height) {
    struct graph *g = graph_open();
    if (!g)
        return -ENOMEM;
    graph_stage(g, stage, args, width, height);
    int error = backend_run_graph(b, g, NULL);
    graph_close(&g);
    return error;
}
