#!/bin/sh
# usage: packaging/dist.sh [FOLDER]    packs a folder, or all sources, to standard output
# The same bytes, whoever packs them: $DIST is the archive's folder, $SOURCE_DATE_EPOCH its time.
# SPDX-License-Identifier: MIT
set -eu
cd "${1:-.}"
if [ $# = 0 ] && [ -e .git ]; then
    git ls-files
else
    find . -type f -not -path './build/*'
fi | LC_ALL=C sort |
    tar -cf - --transform="s,^\(\./\)\?,$DIST/," --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX -T -
