package btrfs_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/interp/btrfs"
)

var dumpKey = regexp.MustCompile(`^\titem \d+ key \((\S+) (\S+) (\S+)\) itemoff`)

// TestItemsAgainstDumpTree checks that Image finds exactly the items that btrfs inspect-internal
// dump-tree shows.
func TestItemsAgainstDumpTree(t *testing.T) {
	k := startKernel(t, 256<<20)
	k.workload(seedFor(t), 300)
	run(t, "btrfs", "subvolume", "snapshot", k.mnt, k.path("snap"))
	k.sync()
	k.end()
	dump := run(t, peer(t, "btrfs", "btrfs-progs"), "inspect-internal", "dump-tree", k.image)
	want := map[string]int{}
	for _, line := range strings.Split(dump, "\n") {
		if m := dumpKey.FindStringSubmatch(line); m != nil {
			want[strings.ToLower(m[2])]++
		}
	}
	obs, err := btrfs.Image(k.disk)
	if err != nil || obs.Txn == nil {
		t.Fatalf("%v %v", err, obs.Violations)
	}
	got := map[string]int{}
	seen := map[string]bool{}
	for _, r := range obs.Txn.Records {
		if r.Field != change.FieldObject || r.Object.Tree == 0 {
			continue
		}
		name := btrfs.Schema().KindName(r.Object.Kind)
		item := fmt.Sprint(r.Object.Tree, r.Object.ID, name, r.Object.Sub)
		switch name {
		case "extent_data_ref", "tree_block_ref", "shared_block_ref", "shared_data_ref", "chunk_stripe":
			continue // they have no items, or are mostly inside an extent item
		}
		if !seen[item] { // an item may hold several objects
			got[name]++
			seen[item] = true
		}
	}
	for _, ref := range []string{
		"extent_data_ref", "tree_block_ref", "shared_block_ref", "shared_data_ref",
	} {
		delete(want, ref)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("items (-dump-tree +ours):\n%s", d)
	}
	t.Logf("%v in %s", got, filepath.Base(k.image))
}
