# `make run` shows the main job. `make test` runs every test that needs no guest. `make help` lists all targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/build/_go/bin:$(CURDIR)/build/bin:$(PATH)
# The same flags for every build, so that they share the build cache.
export GOFLAGS := -buildvcs=false -trimpath

FUZZTIME ?= 30s
GOLANGCI_LINT_VERSION := v2.15.0
GOTESTSUM_VERSION := v1.13.0

.PHONY: help setup build run test test-disks test-apart vm-test planted variants lint fuzz bench soak matrix mutants man clean guest

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: ## install what fsward needs: Debian packages, Go, Go modules
	@scripts/setup.sh

build: ## build fsward, and build/fswcalls for guests (after make setup); STATIC=1: a static fsward without libvirt, which starts no guests
	$(if $(STATIC),CGO_ENABLED=0 )go build -o fsward ./cmd/fsward
	CGO_ENABLED=0 go build -o build/fswcalls ./hostd/daemon/fsynccheck/fswcalls

# The guest's kernel is Debian's linux-image-$(KERNEL). fsward looks in build/guest by default, where only
# the default kernel has its guest.
KERNEL ?= cloud-amd64
export FSWARD_GUEST := $(CURDIR)/build/guest$(addprefix -,$(filter-out cloud-amd64,$(KERNEL)))

guest: ## build the guest into build/guest; KERNEL=6.12-cloud-amd64 (or amd64, 6.12-amd64) builds it into build/guest-KERNEL
	@guest/build.sh $(FSWARD_GUEST) $(KERNEL)

run: setup build guest ## show the main job in about three minutes: a guest, two guarded disks, two bugs, two refusals
	./fsward demo --guest build/guest

# Packages whose tests mount disks run one after the other: mkfs.btrfs looks at every loop mount that it
# sees, and fails if a test of another package has just cut one. The packages of APART run beside them, in a
# mount namespace of their own, in which they do not see these mounts. Each package is in one of the two.
test: setup build build/bin/gotestsum ## run every test that needs no guest
	go build ./...
	$(MAKE) --no-print-directory -k -j 2 test-disks test-apart

APART := ./invariants/... ./dev/mutants/... ./interp/... ./explore/...

test-disks:
	gotestsum --format pkgname-and-test-fails -- -p 1 -timeout 20m $$(go list ./... | grep -vxF "$$(go list $(APART))")

test-apart:
	unshare --mount gotestsum --format pkgname-and-test-fails -- -p 1 -timeout 20m $(APART)

# Tests with the tag vmtest must be named TestGuest…, since others would not run.
VMTESTS ?= ^TestGuest
VMPACKAGES := ./hostd/... ./explore/host/...

vm-test: setup build guest build/bin/gotestsum ## run the tests that boot a guest under libvirt; options: KERNEL=6.12-cloud-amd64 VMTESTS=^TestGuestRamdisk
	@! grep -rl --include='*_test.go' 'go:build vmtest' $(VMPACKAGES:/...=) | xargs grep -nE '^func Test' | grep -v ':func TestGuest'
	gotestsum --format pkgname-and-test-fails -- -tags vmtest -p 1 -timeout 40m -run '$(VMTESTS)' $(VMPACKAGES)

variants: setup ## run every supported way to make and mount Btrfs under the guard (about two minutes)
	FSWARD_VARIANTS=all go test -count=1 -v -run '^TestVariants$$' ./hostd/guard

PLANTED ?= .

planted: setup guest ## find bugs planted above and below ext3 in a guest (about half an hour); PLANTED=fsync: those that match
	FSWARD_PLANTED='$(PLANTED)' go test -tags vmtest -count=1 -v -timeout 60m -run '^TestGuestPlanted$$' ./explore/host

lint: setup build/bin/golangci-lint ## run golangci-lint, go vet and checkpatch, and check the import graph and all rule files
	golangci-lint run ./...
	golangci-lint run --build-tags vmtest $(VMPACKAGES)
	golangci-lint run --build-tags bench ./invariants/...
	go vet ./...
	go test -count=1 -run '^TestImportArrows$$' .
	go run ./cmd/fsward rules list > /dev/null
	scripts/checkpatch.sh

fuzz: setup ## run each fuzz target for FUZZTIME (default 30s)
	@scripts/fuzz.sh $(FUZZTIME)

bench: setup guest ## run the benchmarks, each beside a peer
	@scripts/bench.sh

soak: setup ## run real loads until 20,000 commits of Btrfs pass without an alarm; SOAK="-fs ext3 -commits 500": see go run ./dev/soak -help
	PATH=$(CURDIR)/build/btrfs-progs/sbin:$(CURDIR)/build/btrfs-progs/bin:$$PATH go run ./dev/soak -keep build/soak $(SOAK)

matrix: setup ## draw the corruption matrices in build/matrix: fsward, the checker and Linux on thousands of altered commits; MATRIX="-fs btrfs -only extent_item"
	go run ./dev/matrix/cmd -dir build/matrix -linux $(MATRIX)

mutants: setup ## weaken each rule in one place at a time, and list the mutants that no test notices
	go run ./dev/mutants/cmd -fs btrfs
	go run ./dev/mutants/cmd -fs ext3 -commits=false

man: build ## write the man pages to build/man
	./fsward man build/man

clean: ## remove everything that make has built
	rm -rf build out fsward

build/bin/gotestsum:
	GOBIN=$(CURDIR)/build/bin go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)

build/bin/golangci-lint:
	@echo "building golangci-lint $(GOLANGCI_LINT_VERSION) (a few minutes, once)"
	GOBIN=$(CURDIR)/build/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
