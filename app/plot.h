/*
 * Curves as a small SVG picture. Any thread; no shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PLOT_H
#define LIVESTEREO_PLOT_H

struct plot_curve {
    const char *name;
    int count;
    const double *x, *y; /* 0 or more */
};

/* Draws curves, each with a colour and its name, on axes that begin at 0. 0, or -EIO after a log
 * line. */
int plot_write(const char *path, const char *x_name, const char *y_name,
               const struct plot_curve *curves, int count);

#endif
