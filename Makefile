# `make run` shows the main job. `make test` runs every test that needs no guest. `make help` lists
# all targets with the text of the ## comments above them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/build/_go/bin:$(CURDIR)/build/bin:$(PATH)
# The same flags for every build, so that they share the build cache.
export GOFLAGS := -buildvcs=false -trimpath

FUZZTIME ?= 30s
GOLANGCI_LINT_VERSION := v2.15.0
GOTESTSUM_VERSION := v1.13.0

.PHONY: help setup build run test test-disks test-apart vm-test vm-test-explore \
	vm-test-others layout restarts apparmor reconnect migrate planted repair-planted \
	repair-paths search-table variants lint fuzz bench kills simulate soak survey shapes cliffs \
	matrix fsward-matrix mutants man clean guest guest-debug debug-test

## list the targets
help:
	@awk '/^## / { text = text substr($$0, 3) } \
		/^[a-z-]+:/ && text { sub(/:.*/, ""); printf "  make %-10s%s\n", $$0, text; text = "" }' \
		$(MAKEFILE_LIST) | sort

## install what fsward needs: Debian packages, Go, Go modules
setup:
	@scripts/setup.sh

# The version that `fsward --version` prints. Without git it is empty, and the program prints the
# version that Go has recorded.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)

## build fsward, and build/fswcalls for guests (after make setup); STATIC=1 builds a static fsward
## without libvirt, which cannot start guests
build:
	$(if $(STATIC),CGO_ENABLED=0 )go build -ldflags '-X fsward/hostd/output.linked=$(VERSION)' \
		-o fsward ./cmd/fsward
	CGO_ENABLED=0 go build -o build/fswcalls ./hostd/daemon/fsynccheck/fswcalls

# The guest's kernel is Debian's linux-image-$(KERNEL). The guest of the default kernel is in
# build/guest, where fsward looks by default.
KERNEL ?= cloud-amd64
export FSWARD_GUEST := $(CURDIR)/build/guest$(addprefix -,$(filter-out cloud-amd64,$(KERNEL)))

## build the guest into build/guest; KERNEL=6.12-cloud-amd64 (or amd64, 6.12-amd64) builds it into
## build/guest-KERNEL
guest:
	@guest/build.sh $(FSWARD_GUEST) $(KERNEL)

## build a guest whose kernel checks itself (KASAN, PROVE_LOCKING, KMEMLEAK, DEBUG_LIST) into
## build/guest-debug, from Debian's linux-source-6.1: a quarter of an hour of one processor, once
guest-debug:
	@scripts/setup.sh flex bison bc libelf-dev libssl-dev
	@guest/debug.sh $(CURDIR)/build/guest-debug
	@guest/build.sh $(CURDIR)/build/guest-debug

## show the main job in about three minutes: a guest, two guarded disks, two bugs, two refusals
run: setup build guest
	./fsward demo --guest build/guest

# test-disks runs the packages that mount disks, one at a time: mkfs.btrfs examines every loop mount
# that it sees, and fails if another test has just cut one off from its disk. test-apart runs the
# packages of APART at the same time, two at a time, because many of them wait. Each package belongs
# to one of the two.
# Each package of APART, and test-disks, has a mount namespace of its own: a namespace that another
# process makes has a copy of all mounts that it sees, and a file system that is unmounted here would
# stay mounted there.
# -short takes small random samples. Go links each test anew, in a third less time without the tables
# for debuggers.
SHORT ?= -short
TESTFLAGS = $(SHORT) -ldflags=-w -timeout 20m

## run every test that needs no guest; option: SHORT= takes the large random samples
test: setup build build/bin/gotestsum
	go build ./...
	$(MAKE) --no-print-directory -k -j 2 test-disks test-apart

# interp/volume is not in APART: its tools leave partitions on loop devices.
APART := ./dev/... ./interp ./interp/btrfs/... ./interp/corruptspec/... \
	./interp/detect/... ./interp/disk/... ./interp/ext3/... ./interp/forecasttest/... ./explore/... \
	./hostd/offline ./invariants/... ./repair/...

test-disks:
	unshare --mount gotestsum --format pkgname-and-test-fails -- $(TESTFLAGS) -p 1 \
		$$(go list ./... | grep -vxF "$$(go list $(APART))")

# Tests of these packages that measure memory collect garbage first. GOGC saves up to a third of the
# time of the others.
test-apart:
	GOGC=400 gotestsum --format pkgname-and-test-fails -- $(TESTFLAGS) -p 2 \
		-exec 'unshare --mount' $(APART)

# The name of a test with the tag vmtest must begin with TestGuest. Others would not run.
VMTESTS ?= ^TestGuest
VMPACKAGES := ./hostd/... ./explore/host/...
VMRUN = unshare --mount gotestsum --format pkgname-and-test-fails -- $(SHORT) -tags vmtest -p 1 \
	-timeout 40m -run '$(VMTESTS)'

# Two halves that take equally long run at the same time: vm-test-explore, and vm-test-others, to
# which the tests of explore/host with user-mode Linux belong.
## run the tests that boot a guest under libvirt; options: KERNEL=6.12-cloud-amd64
## VMTESTS=^TestGuestRamdisk
vm-test: setup build guest build/bin/gotestsum
	@! grep -rl --include='*_test.go' 'go:build vmtest' $(VMPACKAGES:/...=) | \
		xargs grep -nE '^func Test' | grep -vE ':func Test(Guest|Main)'
	$(MAKE) --no-print-directory -k -j 2 vm-test-explore vm-test-others

vm-test-explore:
	$(VMRUN) -skip '^TestGuestUserMode' $(filter ./explore/%,$(VMPACKAGES))

vm-test-others:
	$(VMRUN) -skip '^TestGuest([^U]|U[^s])' $(filter ./explore/%,$(VMPACKAGES))
	$(VMRUN) $(filter ./hostd/%,$(VMPACKAGES))

## boot a guarded disk that is laid out as Debian's installer does, corrupt a commit of one volume
## after the other, and check each volume (about three minutes)
layout: setup build guest
	FSWARD_LAYOUT=all go test -count=1 -v -tags vmtest -timeout 20m \
		-run '^TestGuestDebianLayout$$' ./hostd/vmrun

RESTARTS ?= 100

## end the guard of a running guest RESTARTS times (100) at random moments, and start it again, in a
## guest and under the host's kernel; the same from boot to power-off (about ten minutes)
restarts: setup build guest
	FSWARD_RESTARTS=$(RESTARTS) go test -count=1 -v -tags 'vmtest restarts' -timeout 60m \
		-run '^TestGuestRestarts' ./hostd/vmrun
	FSWARD_RESTARTS=$(RESTARTS) unshare --mount go test -count=1 -v -timeout 60m \
		-run '^TestRestartUnderRunningGuest$$' ./cmd/fsward

SUITE ?= bookworm

## follow the guide on a Debian host with stock libvirt and AppArmor, which boots under QEMU's
## translator (about ten minutes); SUITE=trixie
apparmor: setup build guest
	@scripts/setup.sh debootstrap
	scripts/apparmor.sh $(SUITE)

## kill the guard of a domain with the element reconnect of libvirt 11 ten times, under load (about
## five minutes)
reconnect: setup build guest
	@scripts/setup.sh debootstrap
	scripts/reconnect.sh

## migrate a guarded domain between two hosts in namespaces, which is refused (about five minutes);
## SUITE=trixie
migrate: setup build guest
	@scripts/setup.sh debootstrap
	scripts/migrate.sh $(SUITE)

## run every supported way to make and mount Btrfs and ext3 under the guard (about six minutes)
variants: setup
	FSWARD_VARIANTS=all go test -count=1 -v -run '^Test(Ext3)?Variants$$' ./hostd/guard

## plant a bug for each check of the kernel of make guest-debug, and record its coverage (about ten
## minutes)
debug-test: setup guest-debug
	go test -tags vmtest -count=1 -v -timeout 60m -run '^TestGuest(DebugKernel|Coverage)$$' \
		./explore/host

PLANTED ?= .

## find bugs planted above and below ext3 in a guest (about half an hour); PLANTED=fsync selects
## those with a matching name
planted: setup guest
	FSWARD_PLANTED='$(PLANTED)' go test -tags vmtest -count=1 -v -timeout 60m \
		-run '^TestGuest(Planted|Commits)$$' \
		./explore/host

## plant bugs in a rebuilt e2fsck and xfs_repair, and find them with fsward fsck (about ten
## minutes); REPAIR_PLANTED=dot selects those with a matching name
repair-planted: setup build build/planted/e2fsprogs build/planted/xfsprogs
	@scripts/setup.sh autoconf automake libtool libinih-dev liburcu-dev uuid-dev libblkid-dev
	go run ./dev/repairplanted ./fsward build/planted '$(REPAIR_PLANTED)'

## find paths of e2fsck with AFL++ (Debian's package afl++) in PATHS_TIME (10m), and test e2fsck
## with each, in build/repair-paths
repair-paths: setup build
	@scripts/setup.sh afl++
	rm -rf build/repair-paths
	./fsward fsck run --fs ext3 --mode=-fy --paths afl --paths-time $(or $(PATHS_TIME),10m) \
		--sources build/afl --time 0 --out build/repair-paths

build/planted/%:
	repair/paths/source.sh build/sources $*
	mkdir -p $@
	tar -xf build/sources/$*_*.orig.tar.[gx]z --strip-components=1 -C $@

## find bugs planted in a file system in memory by each --search (minutes): docs/results/search.md
search-table:
	go test -tags bench -count=1 -v -timeout 20m -run '^TestSearchTable$$' ./explore/checkers

## run golangci-lint, go vet and checkpatch, and check the import graph and all rule files
lint: setup build/bin/golangci-lint
	golangci-lint run ./...
	golangci-lint run --build-tags vmtest,restarts $(VMPACKAGES)
	golangci-lint run --build-tags bench ./invariants/...
	go vet ./...
	go test -count=1 -run '^TestImportArrows$$' .
	go run ./cmd/fsward rules list > /dev/null
	scripts/checkpatch.sh

## run each fuzz target for FUZZTIME (default 30s)
fuzz: setup
	@scripts/fuzz.sh $(FUZZTIME)

## run the benchmarks, each beside a peer
bench: setup guest
	@scripts/bench.sh

## kill processes of a campaign with kill -9 at KILLS random moments, and check that everything
## counts once; about a second each
KILLS ?= 200
kills: setup
	FSWARD_CAMPAIGN_KILLS=$(KILLS) go test -count 1 -v -timeout 1h -run '^TestKilled$$' ./explore/campaign

## measure a campaign's queue with 100 and with 1,000 workers in virtual time: 3.8 million workloads,
## about five minutes
simulate: setup
	go test -run '^$$' -bench Simulation -benchtime 1x -timeout 1h ./explore/campaign

## explore all file systems and stacks in turn for 24 hours; killed at any moment, it continues where
## it was; KERNEL=amd64 has all file systems; SURVEY="-hours 1 -slice 60 -only ext3"; -run-in uml
## explores in user-mode Linux what can run there
survey: build guest
	@scripts/survey.sh $(value SURVEY)

## run real loads until 20,000 commits of Btrfs pass without an alarm; SOAK="-fs ext3 -commits 500":
## see go run ./dev/soak -help
soak: setup
	PATH=$(CURDIR)/build/btrfs-progs/sbin:$(CURDIR)/build/btrfs-progs/bin:$$PATH \
		go run ./dev/soak -keep build/soak $(SOAK)

## measure commits whose shape could make the guard slow, at three sizes each (about an hour); -full
## ends with the largest size of each; SHAPES="-only ext3 -sizes 2"
shapes: setup
	go run ./dev/shapes $(SHAPES)

## look for shapes that nobody listed: random mixtures of operations at n, 2n and 4n, for an hour;
## CLIFFS="-seed 7 -hours 8 -fs btrfs -only snapshot"
cliffs: setup
	go run ./dev/cliffs -keep build/cliffs $(CLIFFS)

## build the program that runs the units of fsward campaign start matrix
fsward-matrix:
	go build -o fsward-matrix ./dev/matrix/cmd
	CGO_ENABLED=0 go build -o fsward-matrix-init ./dev/matrix/umlinit

## draw the corruption matrices in build/matrix: fsward, the checker and Linux on thousands of
## altered commits; MATRIX="-fs btrfs -only extent_item"
matrix: setup
	go run ./dev/matrix/cmd -dir build/matrix -linux $(MATRIX)

## weaken each rule in one place at a time, and list the mutants that no test notices
mutants: setup
	go run ./dev/mutants/cmd -fs btrfs
	go run ./dev/mutants/cmd -fs ext3 -commits=false

## write the man pages to build/man
man: build
	./fsward man build/man

## remove everything that make has built
clean:
	rm -rf build out fsward fsward-matrix fsward-matrix-init

build/bin/gotestsum:
	GOBIN=$(CURDIR)/build/bin go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)

build/bin/golangci-lint:
	@echo "building golangci-lint $(GOLANGCI_LINT_VERSION) (a few minutes, once)"
	GOBIN=$(CURDIR)/build/bin \
		go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
