#!/bin/bash
# usage: tests/odd_folder.sh
# Builds, checks and installs a copy of the sources in a folder whose name has blanks, a quote and
# an umlaut, beside a folder with the first word of that name, which stays. Exit code 77 is a skip.
# SPDX-License-Identifier: MIT
set -eu
[ -e .git ] || { echo "SKIP odd-folder: needs git's list of files"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LIVESTEREO_DATA=$(realpath -m "${LIVESTEREO_DATA:-../shared/data}")
export LIVESTEREO_DATA
unset MAKEFLAGS MFLAGS MAKEOVERRIDES COUNTS
tree="$work/my code, o'neill's für stereo"
to="$work/my tools, o'neill's"
mkdir "$work/my" "$tree"
echo kept >"$work/my/file"
git ls-files -z | tar -c --null -T - | tar -C "$tree" -x
cd "$tree"

make_here() {
    make -j"$(nproc)" CUDA=0 CFLAGS=-O1 WERROR=-Werror DESTDIR= "$@"
}
make_here all build/golden.ran $(printf 'build/test_%s.ran ' params_file build session gui_ends) \
    $(printf 'package-%s ' symbols header examples gst uninstall python)
failed=$(grep -Hv ' 0 ' build/*.counts) && { echo "failed: $failed"; exit 1; }
make_here PREFIX="$to" install >"$work/log"
"$to/bin/livestereo" run synth: --frames 1 -q
export PKG_CONFIG_PATH="$to/lib/pkgconfig"
eval "gcc examples/pair.c -o pair $(pkg-config --cflags --libs livestereo libpng)"
LD_LIBRARY_PATH="$to/lib" ./pair examples/left.png examples/right.png examples/calibration.txt d.png
make_here PREFIX="$to" uninstall >"$work/log"
! find "$to" ! -type d | grep .
make_here clean
[ "$(cat "$work/my/file")" = kept ]
