/*
 * --board and --square, of app/calibrate/calibrate.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calibrate.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

int calibrate_parse_board(const char *text, struct board *board) {
    char rest;
    if (text && sscanf(text, "%dx%d%c", &board->cols, &board->rows, &rest) == 2 &&
        board->cols >= 3 && board->rows >= 3 && board->cols <= MAX_BOARD_SIDE &&
        board->rows <= MAX_BOARD_SIDE)
        return GO_ON;
    return log_fail(EXIT_USAGE, "--board",
                    "say how many inner corners the board has, as in --board 9x6 for 10x7 squares");
}

/* Metres in a unit, 0 where it is none. */
static double unit_metres(const char *unit) {
    if (strcmp(unit, "mm") == 0)
        return 1e-3;
    if (strcmp(unit, "cm") == 0)
        return 1e-2;
    return strcmp(unit, "m") == 0 ? 1 : 0;
}

int calibrate_parse_square(const char *text, struct board *board) {
    board->square = 1;
    if (!text) {
        log_warning("--square",
                    "not given: distances will be in squares of the board, not metres; give "
                    "the side of a square, as in --square 24mm");
        return GO_ON;
    }
    char *unit;
    double number = g_ascii_strtod(text, &unit), square = number * unit_metres(unit);
    if (!(square > 1e-4 && square < 10))
        return log_fail(EXIT_USAGE, "--square",
                        "%s: give the side of a square with its unit, as in 24mm, 2.4cm or 0.024m",
                        text);
    board->square = square;
    board->metric = 1;
    return GO_ON;
}
