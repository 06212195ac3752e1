#!/bin/sh
# usage: tests/packages.sh [--list] run|check|all|deb|python|accuracy
# Installs those of the Debian packages of a purpose that are missing, naming them first; does
# nothing when all are there. --list prints all of them. SPDX-License-Identifier: MIT
set -u

run="gcc g++ pkg-config libglib2.0-dev libpng-dev libturbojpeg0-dev libv4l-dev libudev-dev
    libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-plugins-good
    gstreamer1.0-libav libglfw3-dev libepoxy-dev libx11-dev libimgui-dev libcglm-dev
    libgl1-mesa-dri fonts-dejavu-core libyaml-dev libzstd-dev liblz4-dev zlib1g-dev libbz2-dev
    libexif-dev libtiff-dev libavformat-dev libopencv-calib3d-dev libopencv-video-dev
    libwebsockets-dev libjson-glib-dev libceres-dev fonts-roboto-unhinted
    fonts-material-design-icons-iconfont"
[ "$(uname -m)" = x86_64 ] || run="$run libsimde-dev"
check="xvfb xauth xdotool clang-format clang-tidy cppcheck mandoc desktop-file-utils appstream
    locales gstreamer1.0-tools python3-numpy python3-pil python3-websockets"
all="clang lld libclang-rt-dev abigail-tools binutils python3-pytest python3-setuptools
    python3-venv python3-wheel python3-selenium mypy cmake meson ninja-build chromium-driver
    gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static libsimde-dev
    qemu-system-x86 busybox-static cpio kmod xz-utils v4l-utils"
list=
[ "$1" != --list ] || { list=1; shift; }
case $1 in
run) packages=$run ;;
check) packages="$run $check" ;;
all) packages="$run $check $all" ;;
deb) packages="$run dpkg-dev debhelper dh-python lintian fakeroot gstreamer1.0-plugins-base" ;;
python) packages="python3-setuptools python3-wheel" ;;
accuracy) packages="python3-numpy python3-pil" ;;
esac
[ -z "$list" ] || { echo $packages; exit; }

if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: needs what Debian calls" $packages >&2
    exit 0
fi
missing=
for package in $packages; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
install="apt-get update &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    sh -c "$install"
elif command -v sudo >/dev/null; then
    sudo sh -c "$install"
else
    echo "no sudo here: as root, run apt-get install$missing" >&2
    exit 1
fi
