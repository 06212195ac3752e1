/*
 * See backend.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend.h"

#include <assert.h>
#include <errno.h>

static int ask_backend(void *context, const struct graph *g, int i) {
    struct backend *b = context;
    return b->unit ? b->unit(b, g, i) : 1;
}

int backend_plan(struct backend *b, struct graph *g) {
    return graph_plan(g, ask_backend, b);
}

int backend_run_graph(struct backend *b, struct graph *g) {
    void *const no_memory[MAX_SLOTS] = {NULL};
    int error = backend_plan(b, g);
    assert(error || (g->arena_bytes == 0 && g->slot_bytes == 0));
    if (!error)
        error = graph_bind(g, NULL, no_memory, 1);
    void *compiled = error ? NULL : b->compile(b, NULL, g);
    if (!compiled)
        return error ? error : -ENOMEM;
    b->run(b, compiled, 0, NULL);
    error = b->wait(b, 0);
    b->discard(b, compiled);
    return error;
}

int backend_run_stage(struct backend *b, enum stage stage, const void *args, int width,
                      int height) {
    struct graph *g = graph_open();
    if (!g)
        return -ENOMEM;
    graph_stage(g, stage, args, width, height);
    int error = backend_run_graph(b, g);
    graph_close(&g);
    return error;
}
