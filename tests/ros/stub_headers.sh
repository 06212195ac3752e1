#!/bin/sh
# usage: stub_headers.sh FOLDER    the headers that bindings/ros/src/node.cpp includes, in FOLDER:
# each is tests/ros/stub.hpp. SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
node=$here/../../bindings/ros/src/node.cpp
sed -n 's/^#include <\(.*\/.*\)>$/\1/p' "$node" | while read -r header; do
    mkdir -p "$1/$(dirname "$header")"
    printf '#pragma once\n#include "%s/stub.hpp"\n' "$here" >"$1/$header"
done
