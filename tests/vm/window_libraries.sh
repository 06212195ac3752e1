#!/bin/sh
# usage: tests/vm/window_libraries.sh
# Prints the libraries that a window loads by name, the folder of the software renderer last.
# SPDX-License-Identifier: MIT
for name in libGL.so.1 libGLX.so.0 libOpenGL.so.0 libGLX_mesa.so.0 libX11-xcb.so.1 libXcursor.so.1 \
    libXi.so.6 libXinerama.so.1 libXrandr.so.2 libXrender.so.1 libXxf86vm.so.1; do
    /sbin/ldconfig -p | sed -n "s|^\s*$name (libc6,x86-64).* => ||p" | head -n 1
done
echo /usr/lib/x86_64-linux-gnu/dri/swrast_dri.so
