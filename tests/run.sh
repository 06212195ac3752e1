#!/bin/bash
# usage: tests/run.sh NAME PROGRAM...          programs that print TAP, one after the other
#        tests/run.sh --program PROGRAM        one of them; --sum counts it; --alone: none does
#        tests/run.sh --sum NAME PROGRAM...    the counts of programs that have run
#        tests/run.sh --step NAME COMMAND...   one command that is one test; exit code 77 is a skip
# Says what failed and why something was skipped; all but these two end with one line of counts and
# add "passed failed skipped NAME" to the file $COUNTS. What each took of the processor, in seconds,
# is added to $COUNTS.seconds. A crash, a time-out, a missing plan, or
# fewer results than planned is a failure. RUNNER is put before each program, TEST_ARGS behind.
# SPDX-License-Identifier: MIT
set -u

# A program may use that much of the processor; how long it waits for it depends on the machine, so
# the clock stops only what hangs.
processor_s=${LIVESTEREO_TEST_SECONDS:-600}
limit_s=${LIVESTEREO_TEST_SECONDS:-1800}
passed=0 failed=0 skipped=0

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
export G_DEBUG=${G_DEBUG:-fatal-criticals}
unset XDG_CONFIG_HOME # settings of whoever runs the tests must not reach them
export HOME=/nonexistent

TIMEFORMAT='%U %S'
keep_seconds() { # keep_seconds NAME FILE: of the file that `time` wrote
    [ -z "${COUNTS:-}" ] || awk -v name="$1" 'END { print int($1 + $2 + 0.5), name }' "$2" \
        >>"$COUNTS.seconds"
}

fail() {
    echo "FAIL $1"
    failed=$((failed + 1))
}

# One TAP program: its output is kept beside it and shown when something in it failed. Its counts
# are PROGRAM.counts.
run_tap() {
    local program=$1 tap=$1.tap log=$1.log planned=-1 seen=0 status line
    passed=0 failed=0 skipped=0
    rm -f "$program.counts"
    {
        ulimit -S -t "$processor_s"
        time timeout --kill-after=10 "$limit_s" ${RUNNER:-} "$program" --tap ${TEST_ARGS:-} \
            >"$tap" 2>"$log" </dev/null
    } 2>"$program.time"
    status=$?
    keep_seconds "$program" "$program.time"
    while IFS= read -r line; do
        case $line in
        1..0*)
            planned=0
            skipped=$((skipped + 1))
            echo "SKIP $program: ${line#*# }" ;;
        1..*)
            planned=${line#1..}
            planned=${planned%% *} ;;
        "ok "*"# SKIP"*)
            seen=$((seen + 1)) skipped=$((skipped + 1))
            line=${line#ok }
            echo "SKIP $program: ${line#* }" ;;
        "ok "*)
            seen=$((seen + 1)) passed=$((passed + 1)) ;;
        "not ok "*)
            seen=$((seen + 1))
            fail "$program: ${line#not ok }" ;;
        esac
    done <"$tap"
    [ "$planned" -ge 0 ] || fail "$program: printed no plan"
    [ "$planned" -lt 0 ] || [ "$planned" -eq "$seen" ] ||
        fail "$program: $seen results of $planned"
    if [ $status -eq 124 ]; then
        fail "$program: stopped after $limit_s s"
    elif [ $status -eq 152 ]; then # SIGXCPU
        fail "$program: stopped after $processor_s s of the processor"
    elif [ $status -ne 0 ] && [ "$failed" -eq 0 ]; then
        fail "$program: exit code $status"
    fi
    [ "$failed" -eq 0 ] || tail -n 60 "$tap" "$log"
    echo "$passed $failed $skipped" >"$program.counts" || exit 1
}

sum_up() {
    local program p f s
    passed=0 failed=0 skipped=0
    for program; do
        if read -r p f s <"$program.counts"; then
            passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        else
            fail "$program: has not run"
        fi
    done
}

case $1 in
--program | --alone)
    run_tap "$2"
    [ "$1" = --program ] || [ "$failed" -eq 0 ]
    exit ;; # of --program, the sum tells what failed
--step)
    name=$2
    shift 2
    took=$(mktemp)
    exec 3>&1 4>&2
    { time "$@" >&3 2>&4; } 2>"$took"
    status=$?
    keep_seconds "$name" "$took"
    rm -f "$took"
    case $status in
    0) passed=1 ;;
    77) skipped=1 ;;
    *) fail "$name" ;;
    esac ;;
*)
    [ "$1" = --sum ] && shift || run=1
    name=$1
    shift
    for program in ${run:+"$@"}; do
        run_tap "$program"
    done
    sum_up "$@" ;;
esac

echo "$name: $passed passed, $failed failed, $skipped skipped"
[ -z "${COUNTS:-}" ] || echo "$passed $failed $skipped $name" >>"$COUNTS" || exit 1
[ "$failed" -eq 0 ]
