#!/usr/bin/env bash
# Runs the benchmarks, each beside a peer that does the same on the same machine, and prints the
# ratio of their times. Use a quiet machine: other programs disturb the measurement.
set -euo pipefail
cd "$(dirname "$0")/.."

n=0
part() {
	n=$((n + 1))
	printf '\n### bench %d/6: %s\n\n' "$n" "$1"
	shift
	local start=$SECONDS
	"$@"
	printf '\nbench %d/6 took %d s\n' "$n" $((SECONDS - start)) >&2
}

part "rule engine, beside Go by hand, the reference engine and SWI-Prolog (about ten minutes)" \
	go test -tags bench -count=1 -timeout 60m -run '^TestBenchTable$' -v ./invariants
mapfile -t dirs < <(grep -rlE --include='*_test.go' '^func Benchmark' . |
	xargs -r -n 1 dirname | sort -u)
part "single writes, beside pwrite (half a minute)" \
	go test -run '^$' -bench . -benchmem "${dirs[@]}"
part "Btrfs of the host's kernel, checked and unchecked (some minutes)" \
	go run ./dev/overhead -fs btrfs
part "ext3 of the host's kernel, checked and unchecked (some minutes)" \
	go run ./dev/overhead -fs ext3
part "a qcow2 image through the guard, beside qemu-nbd (three minutes)" \
	go run ./dev/qcow2
part "crash states in a guest under TCG; EXPLODE tried 3.2 a second (two minutes)" \
	go test -tags vmtest -run '^$' -bench '^BenchmarkGuestExplore$' -benchtime 1x ./explore/host
