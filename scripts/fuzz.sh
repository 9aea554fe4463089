#!/usr/bin/env bash
# Runs every fuzz target of the project for a while, one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# If time runs out while Go's fuzzer minimizes an input, it sometimes reports a failure ("context deadline
# exceeded"). A real failure names its input.
only_time_was_up() {
	grep -qx '    context deadline exceeded' "$log" && ! grep -qE 'Failing input|panic:|fuzzing process hung' "$log"
}

targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+\(f \*testing' . | sed -E 's|^\./(.*)/[^/]+:[0-9]+:func ([A-Za-z0-9_]+).*|\1 \2|' | sort -u)
n=$(wc -l <<<"$targets")
i=0
while read -r dir name; do
	i=$((i + 1))
	echo "fuzz $i/$n: $dir $name for $time"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "./$dir" 2>&1 | tee "$log" || only_time_was_up
done <<<"$targets"
echo "fuzz: random rules on both engines, ${FSWARD_DIFFERENTIAL:-20000} of them"
FSWARD_DIFFERENTIAL=${FSWARD_DIFFERENTIAL:-20000} go test -count=1 -timeout 60m -run '^TestDifferential$' ./invariants
echo "fuzz: $n targets, no failure"
