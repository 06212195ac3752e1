#!/bin/sh
# usage: bindings/python/link.sh LIBRARY.so OBJECT...    for the Makefile, whose variables it takes
# The library of a wheel for many systems, which have the C library alone, from glibc 2.28 on
# (manylinux_2_28), with CUDA libgcc_s, too: libyaml is inside, what C++ needs as well, and
# functions have the names of then. SPDX-License-Identifier: MIT
set -eu
out=$1
shift
own= libraries=
if [ -n "$CUDA_LIBS" ]; then
    own="$CUDA_LIBS $($CXX -print-file-name=libstdc++.a)" libraries="-l:libdl.so.2 -l:librt.so.1"
fi

link() {
    $CC -shared -pthread "-Wl,-soname,$SO" -Wl,--version-script=include/exports.map,-z,defs \
        -Wl,--no-as-needed,-s $READ_ONLY $LDFLAGS "$out.o" -lm -l:libpthread.so.0 $libraries -o "$1"
}

# Prints, for each function that a library takes from glibc at a version after 2.28, the newest
# version up to 2.28 that this machine has, as lines for objcopy.
old_names() {
    "$NM" -D --with-symbol-versions "$1" | sed -n 's/.* U \(.*\)@GLIBC_2\.\([0-9]*\).*/\1 \2/p' |
        while read -r name minor; do
            [ "$minor" -gt 28 ] || continue
            old=$("$NM" -D --with-symbol-versions "$($CC -print-file-name=libc.so.6)" \
                "$($CC -print-file-name=libm.so.6)" |
                sed -n "s/.* $name@*GLIBC_\(2[.0-9]*\)$/\1/p" | sort -V | awk -F. '$2 <= 28' |
                tail -n 1)
            [ -n "$old" ] || { echo "$1: $name needs glibc 2.$minor" >&2; exit 1; }
            echo "$name $name@GLIBC_$old"
        done
}

# libstdc++ asks glibc 2.32 whether there is one thread: here it is told that there are more.
echo 'char __libc_single_threaded;' | $CC -fPIC -fvisibility=hidden -x c -c - -o "$out.threads"
$CC -r -nostdlib $LDFLAGS -o "$out.o" "$out.threads" "$@" -l:libyaml.a $own
link "$out.new"
old_names "$out.new" >"$out.names"
"$OBJCOPY" --redefine-syms="$out.names" "$out.o"
link "$out"
rm -f "$out.o" "$out.threads" "$out.new" "$out.names"
