#!/usr/bin/env bash
# Runs each fuzz target of the project for the given time (default 30s), one at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Go's fuzzer sometimes reports the end of its time as a failure ("context deadline exceeded") while
# it minimizes an input. A real failure names its input.
only_time_was_up() {
	grep -qx '    context deadline exceeded' "$log" &&
		! grep -qE 'Failing input|panic:|fuzzing process hung' "$log"
}

targets=$(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+\(f \*testing' . |
	sed -E 's|^\./(.*)/[^/]+:[0-9]+:func ([A-Za-z0-9_]+).*|\1 \2|' | sort -u)
n=$(wc -l <<<"$targets")
i=0
while read -r dir name; do
	i=$((i + 1))
	echo "fuzz $i/$n: $dir $name for $time"
	go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "./$dir" 2>&1 |
		tee "$log" || only_time_was_up
done <<<"$targets"
rules=${FSWARD_DIFFERENTIAL:-20000}
echo "fuzz: $rules random rules on both engines"
FSWARD_DIFFERENTIAL=$rules go test -count=1 -timeout 60m -run '^TestDifferential$' ./invariants
echo "fuzz: $n targets, no failure"
