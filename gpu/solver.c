/*
 * See solver.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/solver.h"

#include <limits.h>

struct label_map solver_solve(struct graph *g, const struct problem *p) {
    static struct label_map (*const solve[])(struct graph *, const struct problem *) = {
#define SOLVER_ROW(constant, name, function, can) function,
        SOLVERS(SOLVER_ROW, )
#undef SOLVER_ROW
    };
    return solve[p->params->bp_schedule](g, p);
}

/* Half-steps at the second finest level, at most, where labels are pruned; at the third finest and
 * above, at least, where nodes without evidence take what is around them. */
enum { PRUNED_ITERATIONS = 4, WEIGHED_ITERATIONS = 9 };

bool solver_weighs(const struct problem *p) {
    return p->columns > 0 && !p->window && p->scaling->bare_weight < 256;
}

int solver_iterations(const struct problem *p, int level, bool pruned) {
    const struct params *q = p->params;
    const int own[] = {q->bp_iterations_0, q->bp_iterations_1};
    int known = (int)(sizeof(own) / sizeof(own[0])), most = INT_MAX;
    bool says = level < known && own[level] >= 0;
    if (level == 0 && p->max_iterations >= 0)
        most = pruned ? (p->max_iterations + 1) / 2 : p->max_iterations;
    else if (level == 1 && pruned && !says)
        most = PRUNED_ITERATIONS;
    if (level >= PRUNED_LEVELS && solver_weighs(p))
        return stage_max(q->bp_iterations, WEIGHED_ITERATIONS);
    return stage_min(says ? own[level] : q->bp_iterations, most);
}
