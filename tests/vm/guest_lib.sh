# What the guest's tests share: TAP, running the pair reader, looking into its report.
# SPDX-License-Identifier: MIT
number=0
failed=0
result() { # result STATUS NAME
    number=$((number + 1))
    if [ "$1" = 0 ]; then
        echo "ok $number $2"
    else
        failed=$((failed + 1))
        echo "not ok $number $2"
        { cat /tmp/report; tail -n 8 /tmp/messages; } 2>/dev/null | sed 's/^/#   /'
    fi
}
check() { # check NAME COMMAND...
    name=$1
    shift
    "$@" >/dev/null 2>&1
    result $? "$name"
}
finish() {
    echo "1..$number"
    [ $failed -eq 0 ]
    exit
}
# Reads pairs; the report goes to /tmp/report, the pairs to /tmp/pairs, messages to /tmp/messages.
pairs() { vm_pairs "$@" >/tmp/all 2>/tmp/messages; code=$?
    grep '^pair ' /tmp/all >/tmp/pairs; grep -v '^pair ' /tmp/all >/tmp/report
    sed -n 's/^open files //p' /tmp/all >>/tmp/leaks; return $code; }
# field left dropped: the number before that word in that line of the report
field() { awk -v line="$1" -v word="$2" '$1 == line { for (i = 2; i <= NF; i++) {
    w = $i; sub(",", "", w); if (w == word) { print $(i - 1); exit } } }' /tmp/report; }
is() { [ "$(field "$1" "$2")" "$3" "$4" ]; } # is left dropped -gt 5
said() { grep -q "$@" /tmp/messages; }
gap() { awk '$1 == "pairs" { print $4 }' /tmp/report; }
between() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }'; }
later() { # later SECONDS COMMAND...: in the background
    s=$1
    shift
    (sleep "$s"; "$@") &
}
# Indices and both times go up, no gap is larger than so many ms
pairs_in_order() { awk -v most="$1" '{ g = ($4 - $3) / 1e6; if (g < 0) g = -g
    if (g > most || (NR > 1 && ($2 <= i || $3 <= l || $4 <= r))) bad = 1
    i = $2; l = $3; r = $4 } END { exit bad || NR == 0 }' /tmp/pairs; }
rate() { awk -v line="$1" '$1 == line { sub("/s,", "", $4); print $4 }' /tmp/report; }
# The longest time between two pairs, in seconds
longest_hole_below() { awk -v most="$1" 'NR > 1 && $3 - l > hole { hole = $3 - l } { l = $3 }
    END { exit !(NR > 1 && hole < most * 1e9) }' /tmp/pairs; }
# The first pair after the longest hole came within so many seconds of the uptime in the file
back_within() { awk -v most="$1" -v at="$(cat "$2")" 'NR > 1 && $3 - l > hole { hole = $3 - l
    back = $3 / 1e9 } { l = $3 } END { exit !(back > 0 && back - at < most) }' /tmp/pairs; }
