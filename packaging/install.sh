#!/bin/sh
# usage: packaging/install.sh library|all|uninstall    for the Makefile, whose variables it takes
# Installs what was built below $DESTDIR; the desktop file, metainfo, icon and completions at the
# paths that they have in packaging/. A path may have blanks and quotes.
# SPDX-License-Identifier: MIT
set -eu
include=$DESTDIR$INCLUDEDIR lib=$DESTDIR$LIBDIR to=$DESTDIR$PREFIX
doc=$to/share/doc/livestereo plugin=gstreamer-1.0/libgstlivestereo.so
shared=$(cd packaging && find share -type f)

below() { # below FOLDER: as the .pc file says it
    case $1 in
    "$PREFIX"/*) echo "\${prefix}/${1#"$PREFIX"/}" ;;
    *) echo "$1" ;;
    esac
}

if [ "$1" = uninstall ]; then
    rm -f "$include/livestereo.h" "$lib/pkgconfig/livestereo.pc" "$lib/$plugin" \
        "$lib/$SO" "$lib/liblivestereo.so" "$lib/liblivestereo.a" \
        "$to/bin/livestereo" "$to/share/man/man1/livestereo.1"
    rm -rf "$doc"
    cd "$to" && rm -f $shared
    exit
fi

install -D -m 644 include/livestereo.h "$include/livestereo.h"
install -D -m 644 "$BUILD/$SO" "$lib/$SO"
ln -sf "$SO" "$lib/liblivestereo.so"
install -m 644 "$BUILD/liblivestereo.a" "$lib"
install -d "$lib/pkgconfig"
sed "s|@PREFIX@|$PREFIX|; s|@INCLUDEDIR@|$(below "$INCLUDEDIR")|; s|@VERSION@|$VERSION|
    s|@LIBDIR@|$(below "$LIBDIR")|; s|@PRIVATE@|$PRIVATE_LIBS|" include/livestereo.pc.in \
    >"$lib/pkgconfig/livestereo.pc"
[ "$1" = all ] || exit 0

install -D -m 644 "$BUILD/gst/libgstlivestereo.so" "$lib/$plugin"
install -D -m 755 "$BUILD/livestereo" "$to/bin/livestereo"
install -D -m 644 "$BUILD/livestereo.1" "$to/share/man/man1/livestereo.1"
install -d "$doc"
install -m 644 README.md CHANGELOG.md LICENSE LICENSES/* docs/*.md "$doc"
for file in $shared; do
    install -D -m 644 "packaging/$file" "$to/$file"
done
