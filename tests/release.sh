#!/bin/bash
# usage: tests/release.sh    The version is the same wherever it stands; names of a release exist.
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^VERSION = //p' Makefile)
status=0
same() { # same FILE FOUND
    [ "$2" = "$version" ] || { echo "$1: $2, not $version"; status=1; }
}
header=$(sed -n 's/^#define LIVESTEREO_VERSION_[A-Z]* //p' include/livestereo.h | paste -sd.)
same include/livestereo.h "$header"
same debian/changelog "$(sed -n '1s/.*(\([^-)]*\).*/\1/p' debian/changelog)"
package=bindings/ros/package.xml
same $package "$(sed -n 's,.*<version>\(.*\)</version>.*,\1,p' $package)"
recipe=packaging/conda/meta.yaml
same $recipe "$(sed -n 's/.*set version = "\(.*\)".*/\1/p' $recipe)"
metainfo=packaging/share/metainfo/io.github.livestereo.livestereo.metainfo.xml
same $metainfo "$(sed -n 's/.*<release version="\([^"]*\)" date.*/\1/p' $metainfo | head -n 1)"
grep -q "^## $version (" CHANGELOG.md || { echo "CHANGELOG.md: no $version"; status=1; }
for file in RELEASING.md SECURITY.md LICENSE; do
    [ -s $file ] || { echo "$file: missing"; status=1; }
done
exit $status
