#!/bin/bash
# The window on a bare GPU machine (no display, no network): the GUI tests with NVIDIA's OpenGL and
# the CUDA backend, which tell how soon a key is answered.
#   tests/gpu_host.sh prepare DIR [SM]   here: collects into DIR what the machine lacks (60 MB)
#   tests/gpu_host.sh run DIR            there, as root, in a copy of the tree with DIR carried
# SM is the GPU's architecture, sm_90 by default. GPU_HOST is the folder of collect-debs.sh and
# with-display.sh. SPDX-License-Identifier: MIT
set -euo pipefail

# Shared libraries of the programs, but for the machine's own C library and drivers.
libraries() {
    ldd "$@" | awk '/=> \// { print $3 }' | sort -u |
        grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|libGL|libEGL|libGLX)[.-]'
}

prepare() {
    local dir=$1 sm=${2:-sm_90} gpu_host=${GPU_HOST:-../shared/gpu-host} work all=build/gpu/carry
    mkdir -p "$dir" "$all/gst"
    local tests
    tests=$(basename -s .c tests/gui/test_*.c | sed 's,^,build/gpu/,')
    # shellcheck disable=SC2086
    make -j"$(nproc)" BUILD=build/gpu CUDA_ARCH="$sm" OPENCV=0 build/gpu/livestereo \
        build/gpu/lost_context.so build/gpu/given_input.so $tests
    # shellcheck disable=SC2086
    cp build/gpu/livestereo build/gpu/lost_context.so build/gpu/given_input.so $tests "$all"
    install -m 755 "$gpu_host/with-display.sh" "$all"
    for plugin in app coreelements debug jpeg matroska playback typefindfunctions \
        videoconvertscale videofilter videotestsrc; do
        cp "$(pkg-config --variable=pluginsdir gstreamer-1.0)/libgst$plugin.so" "$all/gst"
    done
    strip "$all"/livestereo "$all"/test_gui*
    tar -C "$all" -c . | xz >"$dir/programs.tar.xz"
    if [ ! -e "$dir/display.tar.xz" ]; then
        work=$(mktemp -d)
        mkdir "$work/all"
        "$gpu_host/collect-debs.sh" "$work/debs" xdotool libxdo3 libxtst6 libxkbcommon0 \
            fonts-dejavu-core fonts-roboto-unhinted fonts-material-design-icons-iconfont
        for deb in "$work"/debs/*.deb; do
            case ${deb##*/} in # the loaders go into /, all else beside the machine's own libraries
            libegl1_* | libglvnd0_* | libopengl0_* | libgl1_* | libglx0_*)
                dpkg -x "$deb" "$work/all/root" ;;
            *) dpkg -x "$deb" "$work/all/opt" ;;
            esac
        done
        libraries "$all"/livestereo "$all"/test_gui* "$all"/gst/*.so |
            xargs cp -Lnt "$work/all/opt/usr/lib/x86_64-linux-gnu"
        rm -rf "$work"/all/*/usr/share/{doc,man,locale,lintian,bash-completion,bug,gdb,icons}
        tar -C "$work/all" -c opt root | xz -T0 >"$dir/display.tar.xz"
        rm -rf "$work"
    fi
    du -sh "$dir"
}

untar() { # untar FILE FOLDER, also where there is no xz
    mkdir -p "$2"
    if command -v xz >/dev/null; then
        tar -C "$2" -xf "$1"
    else
        python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$@"
    fi
}

# The programs to $2, the display to /opt/gl.
unpack() {
    local dir=$1
    untar "$dir/programs.tar.xz" "$2"
    [ ! -e /opt/gl/ready ] || return 0
    mkdir -p /opt/gl /usr/share/X11
    untar "$dir/display.tar.xz" /tmp/gl-root
    cp -a /tmp/gl-root/opt/. /opt/gl/
    tar -C /tmp/gl-root/root -c . | tar -C / --keep-directory-symlink -x
    ldconfig
    ln -sfn /opt/gl/usr/share/X11/xkb /usr/share/X11/xkb
    ln -sf /opt/gl/usr/bin/xkbcomp /usr/bin/xkbcomp
    mkdir -p /usr/share/fonts/truetype
    cp -a /opt/gl/usr/share/fonts/truetype/. /usr/share/fonts/truetype/
    touch /opt/gl/ready
}

# Inside the display.
measure() {
    local dir=$1
    export PATH=/opt/gl/usr/bin:$PATH HOME=/nonexistent LIVESTEREO_BIN=$dir/livestereo
    export GST_PLUGIN_SYSTEM_PATH_1_0=$dir/gst GST_REGISTRY=/tmp/gst-registry GST_REGISTRY_FORK=no
    echo "== GUI tests, CUDA backend"
    for test in "$dir"/test_gui*; do
        GUI_OPTIONS="--set backend=cuda" "$test" || status=1
    done
    return ${status:-0}
}

case ${1:-} in
prepare)
    prepare "${2:?usage: tests/gpu_host.sh prepare DIR [SM]}" "${3:-}"
    ;;
run)
    dir=$(cd "${2:?usage: tests/gpu_host.sh run DIR}" && pwd)
    programs=/tmp/livestereo-gui
    unpack "$dir" "$programs"
    "$programs/with-display.sh" "$dir" "$(realpath "$0")" measure "$programs"
    ;;
measure)
    measure "$2"
    ;;
*)
    sed -n '2,9p' "$0"
    exit 2
    ;;
esac
