#!/bin/bash
# usage: tests/deb.sh FOLDER PACKAGE...
# Lintian, and what debian/tests/installed does with the Debian packages of a folder, which are
# installed for it and removed. Exit code 77 is a skip. SPDX-License-Identifier: MIT
set -u
folder=$1
shift
root=
[ "$(id -u)" = 0 ] || root=sudo

found=$(lintian --allow-root --fail-on error,warning "$folder"/*.changes) || {
    echo "$found"
    exit 1
}
debs=()
for package; do
    ! dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
        { echo "SKIP deb-check: $package is installed here"; exit 77; }
    debs+=("$folder/${package}"_*.deb)
done
trap '$root dpkg --purge "$@" >/dev/null 2>&1' EXIT
$root dpkg --install "${debs[@]}" >"$folder/install.log" 2>&1 ||
    { cat "$folder/install.log"; exit 1; }
(cd "$folder"/livestereo-*/ && debian/tests/installed) >"$folder/installed.log" 2>&1 ||
    { tail -n 40 "$folder/installed.log"; exit 1; }
files=$(dpkg -L "$@" | grep livestereo)
$root dpkg --purge "$@" >"$folder/purge.log" 2>&1 || { cat "$folder/purge.log"; exit 1; }
for file in $files; do
    [ ! -e "$file" ] || { echo "$file is left behind"; exit 1; }
done
