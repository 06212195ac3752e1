#!/bin/sh
# usage: packaging/as_c.sh texts FILE...    strings: shaders/image.frag is shader_image_frag,
#                                          app/live/page/page.js is page_page_js
#        packaging/as_c.sh presets FILE...  config/presets.h, from lines of name=value
#        packaging/as_c.sh NAME FILE        the bytes NAME[], and their number NAME_size
# Files as C, on standard output. SPDX-License-Identifier: MIT
set -eu
kind=$1
shift
case $kind in
texts)
    for file; do
        name=$(basename "$(dirname "$file")" | sed 's/s$//')_$(basename "$file" | tr . _)
        echo "extern const char $name[];"
        echo "const char $name[] ="
        sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$file"
        echo ';'
    done ;;
presets)
    echo '#include "config/presets.h"'
    echo 'const struct preset preset_table[] = {'
    for file; do
        echo "{\"$(basename "$file" .ini)\","
        sed -n 's/[\"]/\\&/g; s/^\([a-z][a-z_0-9]*\)=\(.*\)$/"\1=\2\\n"/p' "$file"
        echo '""},'
    done
    echo '{NULL, NULL}};' ;;
*)
    echo '#include <stddef.h>'
    echo "extern const unsigned char $kind[];"
    echo "extern const size_t ${kind}_size;"
    echo "const unsigned char $kind[] ="
    od -An -v -to1 -w32 "$1" | sed 's/ /\\/g; s/.*/"&"/'
    echo ';'
    echo "const size_t ${kind}_size = sizeof($kind) - 1;" ;;
esac
