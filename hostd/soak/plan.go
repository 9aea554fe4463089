package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
)

// A variant is a way to make a file system and to mount it.
type variant struct {
	name  string
	mkfs  []string
	mount []string
	size  int64  // bytes, of each disk
	disks int    // 0: one
	spare int    // disks besides, which it may be put on
	needs string // a feature of mkfs that not every version has; "": none
}

// A workload changes the file system that is mounted in its working directory until $SECONDS_LEFT are over, in
// the shell. $FSLOAD, $SEED and $ADMIN (what fsload may do besides) are set.
type workload struct {
	name   string
	script string
	small  bool // wants a file system that it can fill
}

var variants = map[string][]variant{
	"btrfs": {
		{name: "default", size: 2 << 30},
		{"single, 4k nodes, no free-space tree", []string{"-d", "single", "-m", "single", "-n", "4096", "-O", "^no-holes", "-R", "^free-space-tree"}, []string{"compress=zlib"}, 2 << 30, 1, 0, ""},
		{"64k nodes, xxhash, zstd", []string{"-n", "65536", "--csum", "xxhash"}, []string{"compress-force=zstd", "discard=async"}, 2 << 30, 1, 0, ""},
		{"mixed, sha256", []string{"--mixed", "--csum", "sha256"}, []string{"autodefrag"}, 1 << 30, 1, 0, ""},
		{"32k nodes, blake2b, lzo", []string{"-n", "32768", "-m", "dup", "--csum", "blake2"}, []string{"compress=lzo", "flushoncommit", "discard=sync"}, 2 << 30, 1, 0, ""},
		{"quota, no cow", []string{"-R", "quota"}, []string{"nodatacow"}, 2 << 30, 1, 0, ""},
		{"2 disks, raid1", []string{"-d", "raid1", "-m", "raid1"}, nil, 4 << 30, 2, 1, ""},
		{"2 disks, raid0, 4k nodes", []string{"-d", "raid0", "-m", "raid0", "-n", "4096"}, []string{"compress=zstd"}, 4 << 30, 2, 2, ""},
		{"4 disks, raid10", []string{"-d", "raid10", "-m", "raid10"}, []string{"discard=async"}, 4 << 30, 4, 0, ""},
		{"3 disks, raid1c3, quota", []string{"-d", "raid0", "-m", "raid1c3", "-R", "quota", "--csum", "xxhash"}, nil, 4 << 30, 3, 1, ""},
		{"3 disks, single, mixed", []string{"--mixed", "-d", "single", "-m", "single", "-R", "^free-space-tree"}, []string{"space_cache=v1"}, 4 << 30, 3, 0, ""},
		{"block-group tree, simple quota", []string{"-O", "block-group-tree,squota"}, nil, 2 << 30, 1, 0, "squota"},
		{"2 disks, block-group tree, simple quota", []string{"-O", "block-group-tree,squota", "-d", "raid1", "-m", "raid1", "-n", "4096"}, []string{"compress=zstd"}, 4 << 30, 2, 1, "squota"},
	},
	"ext3": {
		{name: "default", size: 1 << 30},
		{"1k blocks, journal", []string{"-b", "1024", "-J", "size=16"}, []string{"data=journal"}, 512 << 20, 1, 0, ""},
		{"4k blocks, writeback", []string{"-b", "4096", "-I", "256"}, []string{"data=writeback"}, 1 << 30, 1, 0, ""},
	},
}

var workloads = []workload{
	{name: "mixed", script: `"$FSLOAD" -dir . -seed $SEED -seconds $SECONDS_LEFT $ADMIN`},
	{name: "fsync", script: `"$FSLOAD" -dir . -seed $SEED -seconds $SECONDS_LEFT -profile fsync $ADMIN`},
	{name: "sync", script: `"$FSLOAD" -dir . -seed $SEED -seconds $SECONDS_LEFT -profile sync $ADMIN`},
	{name: "names", script: `"$FSLOAD" -dir . -seed $SEED -seconds $SECONDS_LEFT -profile names`},
	{name: "full", small: true, script: `"$FSLOAD" -dir . -seed $SEED -seconds $SECONDS_LEFT -profile space $ADMIN`},
	{name: "source", script: `
		src=$(go env GOROOT)/src
		mkdir -p tree && for d in archive bufio bytes compress container encoding errors fmt go io math net os path regexp sort strconv strings text time unicode; do
			cp -r "$src/$d" tree/; sync -f .
		done
		GOCACHE=$PWD/cache GOFLAGS= GOTMPDIR=$PWD go build -p 1 -o built cmd/gofmt
		sync -f . && mv tree moved && rm -r cache && sync -f . && rm -r moved/encoding moved/net`},
	// Each class of stressors for a second. They call sync(2): nothing else should be mounted by loop meanwhile.
	{name: "stress-ng", script: `
		mkdir -p stress && cd stress
		stress-ng --quiet --class filesystem --exclude bind-mount,binderfs,procfs,verity --sequential 1 --timeout 1s --temp-path . || [ $? -le 3 ]
		cd .. && rm -rf stress`},
}

// A plan says what each round is: variants and loads in turn, and the rest at random from the seed.
type plan struct {
	*config
	variants []variant
	loads    []workload
}

func newPlan(ctx context.Context, c *config) (*plan, error) {
	if variants[c.fs] == nil {
		return nil, fmt.Errorf("no file system %q: btrfs or ext3", c.fs)
	}
	p := &plan{config: c}
	features, err := exec.CommandContext(ctx, "mkfs."+c.fs, "-O", "list-all").CombinedOutput()
	if err != nil && c.fs == "btrfs" {
		return nil, fmt.Errorf("mkfs.btrfs: %w: %s", err, features)
	}
	for _, v := range variants[c.fs] {
		if !strings.Contains(string(features), v.needs) {
			fmt.Fprintf(c.out, "soak: left out, since mkfs.%s does not know %s: %s\n", c.fs, v.needs, v.name)
			continue
		}
		if v.disks = max(v.disks, 1); v.disks >= c.disks {
			p.variants = append(p.variants, v)
		}
	}
	if len(p.variants) == 0 {
		return nil, fmt.Errorf("no way to make %s on %d disks", c.fs, c.disks)
	}
	var names []string
	for _, l := range workloads {
		names = append(names, l.name)
		if c.only == "" || c.only == l.name {
			p.loads = append(p.loads, l)
		}
	}
	if len(p.loads) == 0 {
		return nil, fmt.Errorf("no load %q: %s", c.only, strings.Join(names, ", "))
	}
	return p, nil
}

// round is the n-th round. Every load meets every variant in the course of time.
func (p *plan) round(n int) *round {
	r := &round{config: p.config, number: n, seed: rand.New(rand.NewPCG(p.seed, uint64(n))).Uint64() >> 1}
	r.load = p.loads[n%len(p.loads)]
	r.variant = p.variants[(n%len(p.loads)+n/len(p.loads))%len(p.variants)]
	if r.load.small {
		r.variant.size = 300 << 20
	}
	return r
}
