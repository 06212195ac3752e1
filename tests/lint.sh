#!/bin/bash
# usage: tests/lint.sh STEP
# Reads the sources instead of running them; each step is one test. CFLAGS holds what the
# libraries' headers need. SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/.."

sources() { # sources EXTENSION...: files of ours, one a line
    for extension; do
        find app calibration capture config gpu image render tests -name "*.$extension" | sort
    done
}
flags="-std=c11 -D_GNU_SOURCE -I. -DLIVESTEREO_VERSION=\"0\" -DLIVESTEREO_DATADIR=\"/usr\""
flags="$flags ${CFLAGS:-}"

lint_format() {
    sources c h cu cuh cc | xargs clang-format --dry-run -Werror --ferror-limit=3
}

# Nothing may print a match: tabs, blanks at line ends, carriage returns, over 100 columns.
lint_style() {
    local files
    files=$(sources c h cu cuh cc def sh; echo .ci/run)
    ! grep -nIP '\t|\r| $' $files docs/* README.md || return 1
    ! grep -nIP ' $|\r' Makefile config/presets/* $(find share -type f) || return 1
    ! grep -nIP '^.{101,}' $files Makefile config/presets/* $(find share -type f) || return 1
    for file in $files; do
        head -n 16 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
            { echo "$file: no SPDX line in its header"; return 1; }
    done
    for file in .ci/run tests/*.sh; do
        bash -n "$file" || return 1
    done
}

lint_headers() { # each compiles alone
    local header simd status=0
    for header in $(sources h); do
        case $header in
        *_avx2.h) simd=-mavx2 ;;
        *) simd= ;;
        esac
        gcc -fsyntax-only -Wall -Wextra -Werror $simd $flags -include "$header" -x c /dev/null ||
            status=1
    done
    return $status
}

# allow FOLDER PATTERN: what FOLDER's files may include of ours, beside their own folder
allow() {
    [ -d "$1" ] || return 0
    ! find "$1" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' -o -name '*.def' |
        xargs grep -nE '^ *# *include "' /dev/null | grep -vE "include \"($1/|$2)"
}

lint_layers() {
    local status=0
    allow config '$' || status=1
    allow image 'config/' || status=1
    allow capture 'config/|image/' || status=1
    allow calibration 'config/' || status=1
    allow gpu 'config/|image/|calibration/rectify\.h"' || status=1
    allow render 'config/|image/' || status=1
    return $status
}

# -mavx2 lets it read the files with intrinsics. The analyser follows a function for 20,000 steps
# instead of 225,000: a sixth of the time.
lint_tidy() {
    sources c | grep -v ^tests/ |
        xargs -P "$(nproc)" -I FILE clang-tidy --quiet FILE -- -mavx2 $flags \
            -Xclang -analyzer-config -Xclang max-nodes=20000 2>/dev/null
}

# Suppressed: readdir is safe on a stream of one's own and readdir_r deprecated; memleak does not
# see a pointer handed out, and the leak sanitizer does; uninitvar does not see a loop that fills an
# array, and clang-tidy does.
lint_cppcheck() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --language=c --inline-suppr -j "$(nproc)" -I. \
        --enable=warning,performance,portability --library=posix,gnu \
        --suppress=missingInclude --suppress=preprocessorErrorDirective \
        --suppress=readdirCalled --suppress=memleak --suppress=uninitvar \
        -D_GNU_SOURCE $(sources c | grep -v ^tests/)
}

lint_man() {
    ! mandoc -Tlint -Wwarning docs/*.1 | grep .
}

lint_desktop() {
    bash -n share/bash-completion/completions/livestereo || return 1
    desktop-file-validate share/applications/*.desktop
}

"lint_$1"
