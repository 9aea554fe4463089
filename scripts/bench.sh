#!/usr/bin/env bash
# Runs the benchmarks of every package that has some.
set -euo pipefail
cd "$(dirname "$0")/.."
dirs=$(grep -rlE --include='*_test.go' '^func Benchmark' . | xargs -r -n 1 dirname | sort -u)
FSWARD_BENCH=1 go test -count=1 -timeout 30m -run '^TestBenchTable$' -v ./invariants
# shellcheck disable=SC2086
go test -run '^$' -bench . -benchmem $dirs
go run ./hostd/overhead -fs btrfs
go run ./hostd/overhead -fs ext3
