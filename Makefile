# fsward: `make run` shows the main job, `make test` runs every test that needs no guest. `make help` lists the rest.

SHELL := /bin/bash
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/build/_go/bin:$(CURDIR)/build/bin:$(PATH)
export GOFLAGS := -buildvcs=false

FUZZTIME ?= 30s
GOLANGCI_LINT_VERSION := v2.15.0
GOTESTSUM_VERSION := v1.13.0

.PHONY: help setup build run test test-disks test-apart vm-test planted variants lint fuzz bench soak matrix mutants man clean guest

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: ## install what fsward needs: Debian packages, Go, Go modules
	@scripts/setup.sh

build: ## build the fsward binary, and build/fswcalls for guests (after make setup); STATIC=1 without libvirt: no guests, and no C compiler needed
	$(if $(STATIC),CGO_ENABLED=0 )go build -o fsward ./cmd/fsward
	CGO_ENABLED=0 go build -trimpath -o build/fswcalls ./hostd/daemon/fsynccheck/fswcalls

# The guest's kernel: Debian's linux-image-$(KERNEL). Only the first has a guest in the folder that fsward looks in by default.
KERNEL ?= cloud-amd64
export FSWARD_GUEST := $(CURDIR)/build/guest$(addprefix -,$(filter-out cloud-amd64,$(KERNEL)))

guest: ## build the guest's kernel and initramfs into build/guest; KERNEL=6.12-cloud-amd64 (amd64, 6.12-amd64) into build/guest-6.12-cloud-amd64
	@guest/build.sh $(FSWARD_GUEST) $(KERNEL)

run: setup build guest ## the main job, in about three minutes: a guest, two guarded disks, two bugs, two refusals
	./fsward demo --guest build/guest

# What mounts disks runs one package after the other: mkfs.btrfs looks at every loop mount that it sees, and fails where a test of
# another package has just pulled the cable of one. The rest, in a mount namespace of its own, where it sees none of those, runs beside.
test: setup build build/bin/gotestsum ## every test that needs no guest
	go build ./...
	$(MAKE) --no-print-directory -k -j 2 test-disks test-apart

APART := ./invariants/... ./dev/mutants/... ./interp/... ./explore/...

test-disks:
	gotestsum --format pkgname-and-test-fails -- -p 1 -timeout 20m $$(go list ./... | grep -vxF "$$(go list $(APART))")

test-apart:
	unshare --mount gotestsum --format pkgname-and-test-fails -- -p 1 -timeout 20m $(APART)

# The tests of such files that have another name would not be run.
VMTESTS ?= ^TestGuest
VMPACKAGES := ./hostd/... ./explore/host/...

vm-test: setup build guest build/bin/gotestsum ## the tests that boot a guest under libvirt; KERNEL=6.12-cloud-amd64 VMTESTS=^TestGuestRamdisk and others
	@! grep -rl --include='*_test.go' 'go:build vmtest' $(VMPACKAGES:/...=) | xargs grep -nE '^func Test' | grep -v ':func TestGuest'
	gotestsum --format pkgname-and-test-fails -- -tags vmtest -p 1 -timeout 40m -run '$(VMTESTS)' $(VMPACKAGES)

variants: setup ## every way to make and mount Btrfs that is supported, under the guard (about two minutes)
	FSWARD_VARIANTS=all go test -count=1 -v -run '^TestVariants$$' ./hostd/guard

PLANTED ?= .

planted: setup guest ## bugs planted above and below ext3 in a guest, each of which is found (about half an hour); PLANTED=fsync and other regular expressions
	FSWARD_PLANTED='$(PLANTED)' go test -tags vmtest -count=1 -v -timeout 60m -run '^TestGuestPlanted$$' ./explore/host

lint: setup build/bin/golangci-lint ## golangci-lint, go vet, the import arrows, every rule file parsed, checkpatch of the C
	golangci-lint run ./...
	golangci-lint run --build-tags vmtest $(VMPACKAGES)
	golangci-lint run --build-tags bench ./invariants/...
	go vet ./...
	go test -count=1 -run '^TestImportArrows$$' .
	go run ./cmd/fsward rules list > /dev/null
	scripts/checkpatch.sh

fuzz: setup ## run each fuzz target for FUZZTIME (30s)
	@scripts/fuzz.sh $(FUZZTIME)

bench: setup guest ## benchmarks, each beside a peer
	@scripts/bench.sh

soak: setup ## real loads until 20,000 commits of btrfs were judged without an alarm; SOAK="-fs ext3 -commits 500" and others: see go run ./dev/soak -help
	PATH=$(CURDIR)/build/btrfs-progs/sbin:$(CURDIR)/build/btrfs-progs/bin:$$PATH go run ./dev/soak -keep build/soak $(SOAK)

matrix: setup ## the corruption matrices into build/matrix: fsward, the checker and Linux on thousands of altered commits; MATRIX="-fs btrfs -only extent_item" and others
	go run ./dev/matrix/cmd -dir build/matrix -linux $(MATRIX)

mutants: setup ## each rule weakened in one place at a time: what no test notices
	go run ./dev/mutants/cmd -fs btrfs
	go run ./dev/mutants/cmd -fs ext3 -commits=false

man: build ## write the man pages to build/man
	./fsward man build/man

clean: ## remove what make has built
	rm -rf build out fsward

build/bin/gotestsum:
	GOBIN=$(CURDIR)/build/bin go install gotest.tools/gotestsum@$(GOTESTSUM_VERSION)

build/bin/golangci-lint:
	@echo "building golangci-lint $(GOLANGCI_LINT_VERSION) (a few minutes, once)"
	GOBIN=$(CURDIR)/build/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
