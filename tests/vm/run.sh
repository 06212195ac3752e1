#!/bin/bash
# usage: tests/vm/run.sh BUILD NAME...
# Runs tests in the virtual machine; each NAME is a guest script here, and prints TAP.
# SPDX-License-Identifier: MIT
set -eu

build=$1
shift
programs=
for name; do
    program=$build/vm_test_$name
    {
        echo "#!/bin/bash"
        sed -n "s/^# host: /export /p" "tests/vm/$name.sh"
        echo "exec tests/vm/boot.sh '$build' 'tests/vm/$name.sh'"
    } | sed "s|BUILD|$build|g" >"$program"
    chmod 755 "$program"
    programs="$programs $program"
done
exec tests/run.sh "$build:vm-test" $programs
