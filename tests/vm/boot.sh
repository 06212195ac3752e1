#!/bin/bash
# usage: tests/vm/boot.sh BUILD GUEST_SCRIPT
# Boots the kernel in qemu, in virtual time (one cpu, an instruction is a nanosecond, idle time is
# skipped, so rates and times do not depend on the machine's load), runs the script there and
# passes its TAP on.
#   MODULES  kernel modules, VIVID and UVC their parameters ("a=1;b=2"),
#   PROGRAMS and FILES to take along, PLUGINS for GStreamer,
#   BACK     names below the guest's /out that come back into BUILD/vm/out, LIMIT seconds of
#            processor time
# Skips where there is no qemu or kernel, unless LIVESTEREO_NEED_VM or CI is set.
# SPDX-License-Identifier: MIT
set -uo pipefail

build=$(cd "$1" && pwd)
script=$2
here=$(cd "$(dirname "$0")" && pwd)
kernel=$build/vm/kernel
name=$(basename "$script" .sh)
out=$build/vm/out
mkdir -p "$build/vm" "$out"
(flock 9; "$here/fetch.sh" "$kernel") 9>"$build/vm/lock" 2>"$build/vm/fetch.log"
status=$?
if [ $status -ne 0 ]; then
    why=$(tail -n 1 "$build/vm/fetch.log")
    if [ $status -ne 77 ] || [ -n "${LIVESTEREO_NEED_VM:-}${CI:-}" ]; then
        printf '1..1\nnot ok 1 %s: %s\n' "$name" "$why"
        exit 1
    fi
    echo "1..0 # SKIP $why"
    exit 0
fi
release=$(cat "$kernel/release")

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/root"/{bin,dev,proc,sys,tmp,modules,data,out,etc,run}
root=$tree/root
cp /bin/busybox "$root/bin/"
ln -s busybox "$root/bin/sh"

libraries() { # of a program, to the places where they are here
    { ldd "$1" 2>/dev/null || true; } | grep -o '/[^ ]*' | while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L -n "$library" "$root$library"
    done
}
for program in ${PROGRAMS:-}; do
    cp -L "$program" "$root/bin/"
    libraries "$program"
done
for plugin in ${PLUGINS:-}; do
    mkdir -p "$root$(dirname "$plugin")"
    cp -L "$plugin" "$root$plugin"
    libraries "$plugin"
    dirname "$plugin" >"$root/data/plugins"
done
for file in ${FILES:-}; do
    cp -L -r "$file" "$root/data/"
done
cp "$here"/guest_*.sh "$root/data/"
for module in $MODULES; do
    /sbin/modprobe -d "$kernel/root" -S "$release" --show-depends "$module" |
        sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | while read -r file; do
    module=$(basename "$file")
    [ -e "$root/modules/$module" ] || echo "$module" >>"$root/modules/order"
    objcopy --strip-debug "$file" "$root/modules/$module"
done
cp "$script" "$root/test"
cp "$here/init" "$root/init"
chmod 755 "$root/init" "$root/test"
(cd "$root" && find . -print0 | cpio --null -o -H newc --quiet -R 0:0) >"$tree/initrd"

# What comes back is a tar on the second serial port.
(
    ulimit -t "${LIMIT:-240}"
    exec qemu-system-x86_64 -M q35 -nodefaults -no-user-config -display none \
        -serial stdio -serial "file:$tree/back" -accel tcg,thread=single -cpu max -smp 1 \
        -icount shift=0,sleep=off -m "${MEMORY:-1024}" -no-reboot \
        -kernel "$kernel/vmlinux" -initrd "$tree/initrd" \
        -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
        -append "console=ttyS0 quiet panic=-1 nokaslr mitigations=off tsc=reliable \
random.trust_cpu=on vivid=${VIVID:-} uvcvideo=${UVC:-} back=${BACK:-}" \
        </dev/null 2>"$build/vm/$name.qemu"
) | sed -u 's|\r||' | tee "$build/vm/$name.console" |
    grep --line-buffered -E '^(ok |not ok |1\.\.|#)'
status=${PIPESTATUS[0]}
if [ -n "${BACK:-}" ]; then
    rm -rf "${out:?}/$name"
    mkdir -p "$out/$name"
    tar -x -C "$out/$name" -f "$tree/back" 2>/dev/null
fi
if grep -q '^KERNEL ' "$build/vm/$name.console"; then
    echo "not ok 999 the kernel complained: $(grep -m1 '^KERNEL ' "$build/vm/$name.console")"
fi
case $status in # isa-debug-exit: the guest's status n comes as 2n+1
1) exit 0 ;;
137 | 152) echo "Bail out! the guest took more than ${LIMIT:-240} s of the processor"; exit 1 ;;
*) echo "# qemu ended with $status" >&2; tail -n 30 "$build/vm/$name.console" >&2; exit 1 ;;
esac
