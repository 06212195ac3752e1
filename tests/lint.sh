#!/bin/bash
# usage: tests/lint.sh STEP
# Reads the sources instead of running them; each step is one test. CFLAGS holds what the
# libraries' headers need. SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/.."

sources() { # sources EXTENSION...: files of ours, one a line
    for extension; do
        find app base bindings calibration capture config examples gpu image include \
            render tests -name "*.$extension" | sort
    done
}
flags="-std=c11 -D_GNU_SOURCE -I. -DLIVESTEREO_VERSION=\"0\""
flags="$flags -Wall ${CFLAGS:-}"
avx512="-mavx512bw -mavx512vl -mavx512vbmi -mavx512bitalg -mavx512vnni"

lint_format() {
    sources c h cu cuh cc | xargs clang-format --dry-run -Werror --ferror-limit=3
}

# Nothing may print a match: tabs, blanks at line ends, carriage returns, over 100 columns.
lint_style() {
    local files
    files=$(sources c h cu cuh cc def sh py; echo .ci/run)
    ! grep -nIP '\t|\r| $' $files docs/* *.md tests/*.md || return 1
    ! grep -nIP ' $|\r' Makefile tests/checks.mk config/presets/* \
        $(find packaging/share -type f) || return 1
    ! grep -nIP '^.{101,}' $files Makefile tests/checks.mk config/presets/* \
        $(find packaging/share -type f) || return 1
    for file in $files; do
        head -n 24 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
            { echo "$file: no SPDX line in its header"; return 1; }
    done
    for file in tests/test_*.c tests/parity*.c tests/golden.c tests/python/test_*.py; do
        grep -qw "$(basename "${file%.*}")" tests/README.md ||
            { echo "$file: not in tests/README.md"; return 1; }
    done
    for file in .ci/run tests/*.sh; do
        bash -n "$file" || return 1
    done
}

lint_budget() {
    tests/budget.py
}

lint_release() {
    tests/release.sh
}

lint_headers() { # each compiles alone
    local header simd status=0
    for header in $(sources h); do
        case $header in
        *_avx2.h) simd=-mavx2 ;;
        *_avx512.h) simd="-mavx2 $avx512" ;;
        *) simd= ;;
        esac
        [ "$header" != tests/emulated_gpu/cuda_runtime.h ] || continue # C++
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
    allow base "$" || status=1
    allow config "base/" || status=1
    allow image "base/|config/" || status=1
    allow capture "base/|config/|image/" || status=1
    allow calibration "base/|config/" || status=1
    allow gpu 'base/|config/|image/|calibration/[a-z_]*\.h"|include/' || status=1
    allow render "base/|config/|image/" || status=1
    allow bindings/gst 'image/picture\.h"|include/' || status=1
    # pair_watch remaps pictures with the pipeline's stage; the matcher hands the library its
    # parameters as a struct.
    ! grep -n '^ *# *include "gpu/' -r app |
        grep -vE '^app/(live/pair_watch.c:|matcher.c:.*gpu/settings.h)' || status=1
    # A private header is for its folder and those below.
    local header
    for header in $(sources h | grep '_private\.h$'); do
        ! grep -rnE "^ *# *include \"$header\"" --include='*.[ch]' --include='*.c[cu]' . |
            grep -vE "^\./(${header%/*}|tests|build[^/]*)/" || status=1
    done
    # The library's messages name parameters, not options of the program.
    ! grep -nE '"[^"]*(--[a-z]|livestereo [a-z])' -r gpu calibration/rect* \
        calibration/rig_read* config/params.c config/params.def || status=1
    return $status
}

# Instruction sets let it read the files with intrinsics. The analyser follows a function for
# 20,000 steps instead of 225,000: a sixth of the time.
tidy() { # tidy CHECKS EXTENSION FLAG...: with CHECKS beside those of .clang-tidy
    local checks=$1 extension=$2
    shift 2
    sources "$extension" | grep -v ^tests/ |
        CHECKS=$checks FLAGS="$* -Xclang -analyzer-config -Xclang max-nodes=20000" \
            xargs -P "$(nproc)" -n 12 bash -c \
            'exec clang-tidy --quiet --checks="$CHECKS" "$@" -- $FLAGS' tidy \
            2> >(grep -vE '^[0-9 ]*(warnings? generated|$)' >&2)
}

tidy_all() { # tidy_all CHECKS
    tidy "$1" c -mavx2 $avx512 -Iinclude $flags &&
        tidy "$1" cc ${flags/c11/c++17} ${CALIB_CFLAGS:-}
}

# Without the analyser, which takes two thirds of the time.
lint_tidy() {
    tidy_all '-clang-analyzer-*'
}

lint_analyser() {
    tidy_all ''
}

# Suppressed: readdir is safe on a stream of one's own and readdir_r deprecated; memleak does not
# see a pointer handed out, and the leak sanitizer does; uninitvar does not see a loop that fills an
# array, and clang-tidy does.
lint_cppcheck() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --language=c --inline-suppr -j "$(nproc)" -I. \
        --enable=warning,performance,portability --library=posix,gnu \
        --suppress=missingInclude --suppress=preprocessorErrorDirective \
        --suppress=readdirCalled --suppress=memleak \
        --suppress=uninitvar --suppress=legacyUninitvar \
        -D_GNU_SOURCE $(sources c | grep -v ^tests/)
}

# debian/ says what the Makefile and the library's interface say.
lint_deb() {
    local name status=0
    for name in $(tests/packages.sh --list run | grep -oE '[a-z0-9.-]+-dev\b'); do
        grep -q "^ *$name\b" debian/control ||
            { echo "debian/control: $name is not in Build-Depends"; status=1; }
    done
    grep -q "^livestereo ($(sed -n 's/^VERSION = //p' Makefile)) " <(head -n 1 debian/changelog) ||
        { echo "debian/changelog: another version"; status=1; }
    diff <(sed -n "s/.*elf-symbol name='\(livestereo_[a-z_0-9]*\).*/\1/p" \
        tests/abi/liblivestereo.abi | sort -u) \
        <(sed -n 's/^ \(livestereo_.*\)@LIVESTEREO_0 .*/\1/p' debian/*.symbols | sort) || status=1
    return $status
}

lint_man() {
    ! mandoc -Tlint -Wwarning "${BUILD:-build}/livestereo.1" | grep .
}

lint_desktop() {
    bash -n packaging/share/bash-completion/completions/livestereo || return 1
    desktop-file-validate packaging/share/applications/*.desktop || return 1
    appstreamcli validate --no-net --pedantic packaging/share/metainfo/*.xml || return 1
    local version
    version=$(sed -n 's/^VERSION = //p' Makefile)
    grep -q "<release version=\"$version\"" packaging/share/metainfo/*.xml &&
        grep -q "^## $version" CHANGELOG.md ||
        { echo "the metainfo or CHANGELOG.md does not have version $version"; return 1; }
}

"lint_$1"
