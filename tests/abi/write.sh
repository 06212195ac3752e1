#!/bin/sh
# usage: tests/abi/write.sh LIBRARY FILE
# Describes what livestereo.h declares of a library. Two such files are compared, not a file with a
# library, whose structs behind the handles abidiff would take for changes.
# SPDX-License-Identifier: MIT
exec abidw --headers-dir include --exported-interfaces-only --drop-private-types \
    --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
    --no-write-default-sizes --out-file "$2" "$1"
