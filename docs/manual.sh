#!/bin/sh
# usage: CC=gcc docs/manual.sh
# Prints the manual: docs/livestereo.1 with the keys of app/view/actions.def and the parameters of
# config/params.def in the places of its lines '.\" keys' and '.\" parameters'.
# SPDX-License-Identifier: MIT
set -eu
limits=$(sed -n 's/^ *\(MAX_[A-Z_]*\) = \([0-9]*\).*/s|\1|\2|g/p' base/limits.h)
rows() { # rows FILE: what the compiler's preprocessor makes of its rows, one a line
    ${CC:-cc} -E -P -I. -include docs/manual.def -x c "$1" | grep '^@' | sed "$limits"
}
unquoted='function text(s) { gsub(/^ *"|" *$/, "", s); gsub(/" *"/, "", s); gsub(/\\"/, "\"", s)
    return s }
    function sentence(s) { gsub(/\. /, ".\n", s)
        return toupper(substr(s, 1, 1)) substr(s, 2) "." }'
keys() {
    rows app/view/actions.def | awk -F ' @ ' "$unquoted"'
        { keys = text($2); n = split(keys, key, " ") }
        n { row = ".It Sy"
            for (i = 1; i <= n; i++)
                row = row " " (key[i] ~ /^[^A-Za-z0-9]$/ ? "\\&" : "") key[i]
            print row; print sentence(text($3)) }'
}
parameters() {
    rows config/params.def | awk -F ' @ ' "$unquoted"'
        { range = $3; unit = text($4)
          print ".It Cm " $2 "\n" sentence(text($5))
          if (unit ~ /\|/) { gsub(/\|/, ", ", unit); print "One of " unit "." }
          else if (range != "-") print "From " range (unit == "" ? "" : " " unit) "." }'
}
while IFS= read -r line; do
    case $line in
    '.\" keys') keys ;;
    '.\" parameters') parameters ;;
    *) printf '%s\n' "$line" ;;
    esac
done <docs/livestereo.1
