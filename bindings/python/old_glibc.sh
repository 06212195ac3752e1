#!/bin/sh
# usage: old_glibc.sh LIBRARY NM C.SO... >RENAMED    for wheels, which run with older glibc
# Of the functions that LIBRARY takes from glibc at versions after 2.28 (manylinux_2_28) the newest
# version up to it that C.SO (libc, libm) has, as lines for objcopy --redefine-syms. Fails with the
# name of a function that has none. SPDX-License-Identifier: MIT
set -eu
library=$1 nm=$2
shift 2
"$nm" -D --with-symbol-versions "$library" | sed -n 's/.* U \(.*\)@GLIBC_2\.\([0-9]*\).*/\1 \2/p' |
    while read -r name minor; do
        [ "$minor" -gt 28 ] || continue
        old=$("$nm" -D --with-symbol-versions "$@" | sed -n "s/.* $name@*GLIBC_\(2[.0-9]*\)$/\1/p" |
            sort -V | awk -F. '$2 <= 28' | tail -n 1)
        [ -n "$old" ] || { echo "$library: $name needs glibc 2.$minor" >&2; exit 1; }
        echo "$name $name@GLIBC_$old"
    done
