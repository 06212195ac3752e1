#!/bin/sh
# usage: tests/other_build.sh TARGET    for the Makefile: tests in a build with another compiler,
# with sanitizers, or for Arm, in a folder of its own below $BUILD. SPDX-License-Identifier: MIT
set -eu

build() { # build FOLDER WORD...
    folder=$BUILD/$1
    shift
    exec ${MAKE:-make} --no-print-directory BUILD="$folder" CUDA=0 "$@"
}
sanitized() { # sanitized FOLDER FLAGS WORD...
    folder=$1 flags=$2
    shift 2
    build "$folder" CC=clang CXX=clang++ CFLAGS='-O2 -g1' SANITIZE="$flags" PARITY_ARGS=--small "$@"
}

asan="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
case $1 in # which parts of the tests asan and tsan run
fuzz) parts=fuzz-run ;;
asan-fuzz) parts="unit parity fuzz-run" ;;
tsan-gui) parts=gui-test ;;
tsan-all) parts="unit parity gui-test" ;;
*) parts="unit parity" ;;
esac
case $1 in
golden-gcc-*)
    build "gcc-${1##*-}" CC=gcc CFLAGS="-${1##*-}" golden ;;
golden-clang-*)
    build "clang-${1##*-}" CC=clang CXX=clang++ CFLAGS="-${1##*-}" golden ;;
arm) # emulated: the optimised stages by SIMDe, in NEON
    arm=aarch64-linux-gnu-
    build arm CC=${arm}gcc CXX=${arm}g++ AR=${arm}ar LD=${arm}ld OBJCOPY=${arm}objcopy \
        LDFLAGS=-static CFLAGS='-O3 -g1' RUNNER=qemu-aarch64-static EMULATED_GPU= \
        PARITY_ARGS='--small --backend cpu' \
        PARITY="$BUILD/arm/parity $BUILD/arm/parity_frames" golden parity ;;
asan | fuzz | asan-fuzz)
    sanitized asan "$asan" COVERAGE=-fsanitize=fuzzer-no-link $parts ;;
tsan*) # with a few tests of the window; it may not start under address randomisation
    sanitized tsan -fsanitize=thread \
        GUI="$BUILD/tsan/test_gui_keys $BUILD/tsan/test_gui_live $BUILD/tsan/test_gui_playback" \
        RUNNER="$(setarch -R true 2>/dev/null && echo setarch -R)" $parts ;;
esac
