#!/bin/bash
# usage: tests/vm/fetch.sh FOLDER
# Debian's own kernel and the modules that a test can load, unpacked into FOLDER (nothing is
# installed): vmlinux, release, root/. Does nothing when it is there. Exit code 77 when the kernel
# cannot be had.
# SPDX-License-Identifier: MIT
set -euo pipefail

folder=$1
[ ! -e "$folder/complete" ] || exit 0
skip() {
    echo "$1" >&2
    exit 77
}
for tool in qemu-system-x86_64 cpio xz dpkg-deb apt-get; do
    command -v $tool >/dev/null || skip "needs $tool"
done
[ -x /bin/busybox ] && [ -x /sbin/modprobe ] || skip "needs busybox-static and kmod"
rm -rf "$folder"
mkdir -p "$folder/root"
cd "$folder"

# The meta package names the real one, whose number changes with every security update.
image() { apt-cache show --no-all-versions linux-image-amd64 2>/dev/null |
    sed -n 's/^Depends: \(linux-image-[^ ]*\).*/\1/p'; }
download() {
    [ -n "$(image)" ] && apt-get -o APT::Sandbox::User=root download "$(image)" >/dev/null 2>&1
}
root=
[ "$(id -u)" = 0 ] || root=sudo
download || { $root apt-get update >/dev/null 2>&1 && download; } ||
    skip "needs the package linux-image-amd64, which apt cannot download"

kernel=$(image)
release=${kernel#linux-image-}
modules="./lib/modules/$release"
dpkg-deb --fsys-tarfile "$kernel"_*.deb | tar -x -C root --wildcards './boot/vmlinuz*' \
    "$modules/modules.*" "$modules/kernel/drivers/media/*" "$modules/kernel/drivers/usb/*"
/sbin/depmod -b root "$release"
# Unpacked once here, because the guest would take seconds for it; qemu boots the ELF file.
packed=root/boot/vmlinuz-$release
offset=$(LC_ALL=C grep -abo -m1 $'\xfd7zXZ\x00' "$packed" | head -n 1 | cut -d: -f1)
tail -c +$((offset + 1)) "$packed" | xz -dc --single-stream >vmlinux 2>/dev/null || true
[ -s vmlinux ] || skip "cannot unpack the kernel of $kernel"
rm -f ./*.deb
echo "$release" >release
touch complete
