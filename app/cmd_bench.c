/*
 * livestereo bench: the measurements are gpu/bench.c's, which needs no GLib.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "gpu/bench.h"

int cmd_bench(int argc, char **argv) {
    return bench_main(argc, argv);
}
