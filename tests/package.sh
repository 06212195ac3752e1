#!/bin/bash
# usage: tests/package.sh STEP INSTALLED
# Uses liblivestereo as others do, from the tree that `make install DESTDIR=INSTALLED` filled. Each
# step is one test; exit code 77 is a skip. SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/.." || exit 1

step=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
build=$(dirname "$(realpath "$2")")
ln -s "$build/$(basename "$2")" "$folder/installed" # compilers are told of a path without blanks
export PKG_CONFIG_SYSROOT_DIR=$folder/installed
pc=$(find -L "$PKG_CONFIG_SYSROOT_DIR" -name livestereo.pc) || exit 1
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
export LD_LIBRARY_PATH=$library

fail() {
    echo "$*"
    exit 1
}

# Symbols that are exported and needed, and one version everywhere.
package_symbols() {
    local others version
    others=$(nm -D --defined-only "$library/liblivestereo.so" | grep -v ' A ' |
        awk '{ print $3 }' | grep -v '^livestereo_')
    [ -z "$others" ] || fail "liblivestereo.so exports $others"
    others=$(nm --defined-only --extern-only "$library/liblivestereo.a" |
        awk 'NF == 3 { print $3 }' | grep -v '^livestereo_')
    [ -z "$others" ] || fail "liblivestereo.a exports $others"
    others=$(readelf -d "$library/liblivestereo.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|libyaml-0|librt|libdl|ld-linux[a-z0-9_-]*)\.so')
    [ -z "$others" ] || fail "liblivestereo.so needs $others"
    readelf -d "$library/liblivestereo.so" | grep -q 'SONAME.*\[liblivestereo\.so\.0\]' ||
        fail "liblivestereo.so: its soname is not liblivestereo.so.0"
    version=$(sed -n 's/^#define LIVESTEREO_VERSION_[MP][A-Z]* //p' include/livestereo.h |
        paste -sd.)
    [ "$version" = "$(pkg-config --modversion livestereo)" ] ||
        fail "livestereo.h is $version, livestereo.pc $(pkg-config --modversion livestereo)"
}

# What others load ends where memory on the stack is overrun, and its addresses of functions are
# read-only.
package_hardened() {
    local file count=0
    for file in "$(dirname "$library")/bin/livestereo" "$library/liblivestereo.so.0" \
        "$library"/gstreamer-1.0/*.so "$build"/wheel/livestereo/*.so.*; do
        readelf -lW "$file" | grep -q GNU_RELRO && readelf -dW "$file" | grep -q '\bNOW\b' ||
            fail "$file: not full RELRO"
        nm -D "$file" | grep -q ' U __stack_chk_fail\b' || fail "$file: no stack protector"
        [[ $file = *gstreamer* ]] || # which calls none with a known size
            nm -D "$file" | grep -v stack_chk | grep -q ' U __[a-z]*_chk\b' ||
            fail "$file: no fortified function"
        count=$((count + 1))
    done
    [ $count -eq 4 ] || fail "$count files"
}

# The header alone and what its macros make, in each language that it promises.
package_header() {
    local compiler language standard
    echo '#include "livestereo.h"
        struct livestereo_options options = LIVESTEREO_OPTIONS(2, 2, LIVESTEREO_RGB8);
        struct livestereo_frame frame = LIVESTEREO_FRAME;
        struct livestereo_result result = LIVESTEREO_RESULT;
        struct livestereo_info info = LIVESTEREO_INFO;
        struct livestereo_probe probe = LIVESTEREO_PROBE;
        struct livestereo_problem problem = LIVESTEREO_PROBLEM;
        struct livestereo_solution solution = LIVESTEREO_SOLUTION;
        extern size_t size(void);
        size_t size(void) {
            struct livestereo_info own = livestereo_info_init();
            return own.size + livestereo_options_init(2, 2, LIVESTEREO_RGB8).size;
        }' >"$folder/header.c"
    for compiler in gcc clang; do
        command -v $compiler >/dev/null || continue
        for standard in c99 c11 c++11 c++14 c++17 c++20; do
            language=c
            [ $standard = ${standard#c+} ] || language=c++
            # as a folder of the program's own: of the system's folders nothing is warned of
            $compiler -x $language -std=$standard -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow \
                -Werror -I include "$folder/header.c" || fail "$compiler -std=$standard"
        done
    done
}

# The functions and structs of the baseline, which `make abi` writes, are as they were.
package_abi() {
    command -v abidiff >/dev/null ||
        { echo "SKIP package:abi: needs abidiff (abigail-tools)"; exit 77; }
    readelf -S "$library/liblivestereo.so" | grep -q '\.debug_info' ||
        { echo "SKIP package:abi: needs CFLAGS with -g"; exit 77; }
    local change
    tests/abi/write.sh "$library/liblivestereo.so" "$folder/now.abi" || return 1
    change=$(abidiff tests/abi/liblivestereo.abi "$folder/now.abi") ||
        fail "$change
the interface differs from tests/abi/liblivestereo.abi; where that is meant, make abi"
}

# Each example in C is built with what its own head says, and run.
# The node of ROS 2, with a stub in place of ROS 2 itself.
package_ros() {
    tests/ros/stub_headers.sh "$folder/stub" &&
        # shellcheck disable=SC2046
        g++ -std=c++17 -O1 -Wall -Wextra -Werror -I. -isystem "$folder/stub" \
            tests/ros/test_node.cpp -o "$folder/node" $(pkg-config --cflags --libs livestereo) &&
        "$folder/node"
}

package_examples() {
    local name packages motion root=$PWD
    for name in pair flow camera; do
        packages=$(sed -n 's/.*--cflags --libs \(livestereo[a-z ]*\)).*/\1/p' examples/$name.c)
        # shellcheck disable=SC2046,SC2086
        gcc -Werror examples/$name.c -o "$folder/$name" $(pkg-config --cflags --libs $packages) ||
            return 1
    done
    # shellcheck disable=SC2046
    gcc examples/pair.c -o "$folder/static" -Wl,-Bstatic $(pkg-config --cflags --libs livestereo) \
        -Wl,-Bdynamic $(pkg-config --static --libs livestereo | sed 's/-llivestereo//') \
        $(pkg-config --libs libpng) || return 1
    # shellcheck disable=SC2046
    gcc tests/package/pictures.c -o "$folder/pictures" $(pkg-config --cflags --libs libpng) &&
        "$folder/pictures" make "$folder" || return 1
    cd "$folder" || return 1
    for name in pair static; do
        rm -f depth.png
        ./$name left.png right.png calibration.txt depth.png && ./pictures depth depth.png ||
            fail "pair.c as $name: the depths are wrong"
    done
    ! ldd static | grep livestereo || fail "liblivestereo.a was not used"
    ! ./pair left.png right.png left.png depth.png || fail "pair: a picture is no calibration"
    ./flow left.png right.png motion.flo || return 1
    # u, v in the middle, behind 12 bytes
    motion=$(od -An -tf4 -N8 -j$((12 + 8 * (60 * 320 + 160))) motion.flo | tr -s ' ')
    [ "$motion" = " -10 0" ] || fail "flow: $motion where -10 0 is right"
    ./camera 320 120 calibration.txt <stream.yuyv >distances || return 1
    printf '%s: 2.00 m\n' 0 1 2 | diff - distances || return 1
    build_node || return 1
    # K, D, R and P of cameras 10 cm apart, as calibration.txt has them
    for name in 0 -20; do
        echo "200 0 160 0 200 60 0 0 1  0 0 0 0 0"
        echo "1 0 0 0 1 0 0 0 1  200 0 160 $name 0 200 60 0 0 0 1 0"
    done >camera_info
    for name in plain cmake/node meson/node; do
        [ ! -d "$(dirname $name)" ] && continue
        ./$name 320 120 camera_info <stream.yuyv >nearest || return 1
        [ "$(grep -cE '^(1\.99|2\.0[01]) m ahead$' nearest)" = 3 ] || fail "$name: $(cat nearest)"
    done
}

# examples/robot by hand as C99, and by CMake and meson, where they are installed.
build_node() {
    # shellcheck disable=SC2046
    gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "$root/examples/robot/node.c" -o plain \
        $(pkg-config --cflags --libs livestereo) -lm || return 1
    if command -v cmake >/dev/null; then
        cmake -S "$root/examples/robot" -B cmake >log && cmake --build cmake >log ||
            fail "$(cat log)"
    fi
    if command -v meson >/dev/null && command -v ninja >/dev/null; then
        { meson setup meson "$root/examples/robot" && meson compile -C meson; } >log ||
            fail "$(cat log)"
    fi
}

# Device pointers: compiled where nvcc is, run where a GPU is.
package_cuda() {
    local nvcc
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
    [ -n "$nvcc" ] || { echo "SKIP package:cuda: needs nvcc"; exit 77; }
    # shellcheck disable=SC2046
    "$nvcc" examples/cuda.cu -o "$folder/cuda" $(pkg-config --cflags --libs livestereo) || return 1
    nvidia-smi -L 2>/dev/null | grep -q GPU && grep -q cudart "$pc" || {
        echo "SKIP package:cuda: cuda.cu is built; to run it needs a GPU and a library with CUDA"
        exit 77
    }
    "$folder/cuda"
}

# A fresh environment of Python with the wheel, which finds no other library and no index.
make_venv() {
    unset LD_LIBRARY_PATH
    "${PYTHON:-/usr/bin/python3}" -m venv --system-site-packages "$folder/venv" &&
        "$folder/venv/bin/pip" -q --disable-pip-version-check install --no-index --no-deps \
            --find-links "$build/wheel" livestereo
}

# The package for Python, and the examples with it.
package_python() {
    local root=$PWD others
    others=$(readelf -d "$build"/wheel/livestereo/*.so.0 |
        sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libm|libpthread|librt|libdl|libgcc_s|ld-linux[a-z0-9_-]*)\.so')
    [ -z "$others" ] || fail "the wheel's library needs $others"
    # As pip names the wheel that it builds of an sdist, whose name has no dashes in its parts.
    cp -r "$build/wheel" "$folder/named" && (cd "$folder/named" && rm -f ./*.whl &&
        "${PYTHON:-/usr/bin/python3}" -W ignore setup.py -q bdist_wheel --dist-dir . 2>/dev/null)
    others=$(basename "$folder"/named/*.whl)
    [[ $others =~ ^livestereo-[0-9.]+-py3-none-linux_[a-z0-9_]+\.whl$ ]] || fail "named $others"
    make_venv || return 1
    LIVESTEREO_BIN=$(find -L "$PKG_CONFIG_SYSROOT_DIR" -path '*/bin/livestereo')
    LIVESTEREO_DATA=$(realpath -m "${LIVESTEREO_DATA:-../shared/data}")
    export LIVESTEREO_BIN LIVESTEREO_DATA LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
    export GST_REGISTRY=$folder/registry
    cd "$folder" && venv/bin/python -m pytest -q -rs -p no:cacheprovider "$root/tests/python"
}

# library_block LANGUAGE: the text of docs/LIBRARY.md in that language
library_block() {
    sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" docs/LIBRARY.md | sed '1d; $d' | grep . ||
        fail "docs/LIBRARY.md has no block of $1"
}

# What docs/LIBRARY.md shows in C and Python runs as it is printed, where include/ and build/ are
# as in the sources after `make`; so do the lines that compile the former, without installing and
# after it.
package_readme() {
    local line
    library_block c >"$folder/program.c" && library_block python >"$folder/program.py" ||
        fail "$(cat "$folder"/program.*)"
    grep '^    gcc program\.c ' docs/LIBRARY.md >"$folder/lines"
    [ "$(wc -l <"$folder/lines")" = 2 ] || fail "LIBRARY.md compiles its program in two ways"
    cp -r examples include "$folder" && ln -s "$library" "$folder/build" && cd "$folder" || return 1
    while read -r line; do
        rm -f program
        eval "$line" && ./program >output && grep -qE '^1[67]\.[0-9]+ px' output ||
            fail "C: $line: $(cat output)"
        unset LD_LIBRARY_PATH
    done < <(tac lines)
    make_venv && venv/bin/python program.py >output && grep -qE '^1\.[34][0-9] m' output ||
        fail "Python: $(cat output)"
}

# The GStreamer plugin finds the library by itself, its elements have a manual, and LIBRARY.md's
# pipeline runs as it is printed, where build/ is as `make` leaves it.
package_gst() {
    command -v gst-inspect-1.0 >/dev/null ||
        { echo "SKIP package:gst: needs gst-inspect-1.0 (gstreamer1.0-tools)"; exit 77; }
    unset LD_LIBRARY_PATH
    export GST_PLUGIN_PATH=$library/gstreamer-1.0 GST_REGISTRY=$folder/registry
    local element text
    for element in livestereo; do
        gst-inspect-1.0 $element >"$folder/$element" || fail "$element is not found"
        for text in 'Long-name  *Dense depth from' 'Klass  *Filter/Analyzer/Video/Depth' \
            'Description  *Computes the disparity or depth of each pixel' \
            'disparity-range .*: number of disparities .*\[px\]' 'Range: 2 - 512 Default: 64'; do
            grep -q "$text" "$folder/$element" || fail "gst-inspect-1.0 $element has no \"$text\""
        done
    done
    library_block sh >"$folder/block.sh" || fail "$(cat "$folder/block.sh")"
    cp -r examples "$folder" && mkdir "$folder/build" &&
        ln -s "$library/gstreamer-1.0" "$folder/build/gst" &&
        ln -s "$library/liblivestereo.so.0" "$folder/build" && cd "$folder" &&
        bash -e block.sh >output 2>&1 &&
        "${PYTHON:-/usr/bin/python3}" - <<'.' || fail "$(cat output)"
from PIL import Image
depths = sorted(Image.open("depth.png").getdata())  # mm
assert 1300 < depths[len(depths) // 2] < 1500
.
}

# `make uninstall` takes away all that was installed.
package_uninstall() {
    cp -a "$build/installed" "$folder/a copy" &&
        ${MAKE:-make} -s uninstall DESTDIR="$folder/a copy" >/dev/null || return 1
    ! find "$folder/a copy" ! -type d | grep .
}

"package_$step"
