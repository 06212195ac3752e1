/*
 * See solver.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/solver.h"

struct label_map solver_solve(struct graph *g, const struct problem *p) {
    static struct label_map (*const solve[])(struct graph *, const struct problem *) = {
#define SOLVER_ROW(constant, name, function, can) function,
        SOLVERS(SOLVER_ROW, )
#undef SOLVER_ROW
    };
    return solve[p->params->bp_schedule](g, p);
}

int solver_iterations(const struct problem *p, int level) {
    const struct params *q = p->params;
    const int own[] = {q->bp_iterations_0, q->bp_iterations_1, q->bp_iterations_2,
                       q->bp_iterations_3};
    int known = (int)(sizeof(own) / sizeof(own[0]));
    int iterations = level < known && own[level] >= 0 ? own[level] : q->bp_iterations;
    return level == 0 && p->max_iterations >= 0 ? stage_min(iterations, p->max_iterations)
                                                : iterations;
}
