/*
 * The benchmark as a program of its own, for machines that have a GPU but no GLib (`make
 * gpu-test`).
 * SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"

int main(int argc, char **argv) {
    return bench_main(argc, argv, NULL);
}
