/*
 * Photomontage of three or more pictures by expansion moves. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MONTAGE_H
#define LIVESTEREO_MONTAGE_H

#include "app/recipe.h"
#include "include/livestereo.h"

/* Labels of low energy, costs and seams of the recipe together, by alpha expansion (Boykov,
 * Veksler, Zabih, PAMI 23(11), 2001): any pixels change to one label, then to the next one, until
 * that lowers the energy for none. Labels begin with 0. Each such move is a problem of two labels,
 * which settings' solver gets with its sweeps; where the labels that it finds do not lower the
 * energy the old ones stay. settings' after_sweep is told of each move. Of s, label, energy and
 * sweeps, the number of moves tried, are filled, bound is NAN. The recipe's weights are changed. As
 * livestereo_solve. */
int montage_solve(struct recipe *r, const struct livestereo_problem *settings,
                  struct livestereo_solution *s);

#endif
