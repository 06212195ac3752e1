#!/bin/sh
# usage: tests/packages.sh PACKAGE...
# Installs those of the Debian packages that are missing, naming them first; does nothing when all
# are there. SPDX-License-Identifier: MIT
set -u

if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: needs what Debian calls $*" >&2
    exit 0
fi

missing=
for package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
        missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
root=
if [ "$(id -u)" != 0 ]; then
    root=sudo
    if ! command -v sudo >/dev/null; then
        echo "no sudo here: as root, run apt-get install$missing" >&2
        exit 1
    fi
fi
$root apt-get update && $root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing
