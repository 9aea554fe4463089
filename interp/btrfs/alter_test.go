package btrfs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/corrupt"
	"fsward/shareddata"
)

// ruleBreakers are changes of one field or item, and the rules that they break.
var ruleBreakers = []struct {
	spec string
	want []string
}{
	{"extent_item.key.offset+1048576", []string{"btrfs/48", "btrfs/5", "btrfs/6"}},
	{"inode_item!delete@key.type=1,nlink=1", []string{"btrfs/12", "btrfs/14"}},
	{"inode_item.mode=0o100644@objectid=256", []string{"btrfs/13"}},
	{"inode_item.nlink+1", []string{"btrfs/14"}},
	{"inode_ref!delete", []string{"btrfs/14", "btrfs/17"}},
	{"inode_item.mode=0o120777@mode=0o100644", []string{"btrfs/16", "btrfs/52"}},
	{"dir_index.type=7@type=1", []string{"btrfs/16"}},
	{"dir_item.type=7@type=1", []string{"btrfs/16"}},
	{"inode_ref.index+100000", []string{"btrfs/17"}},
	{"inode_ref.name+1", []string{"btrfs/17"}},
	{"dir_item.name+1", []string{"btrfs/item"}},
	{"dir_index.location.objectid+1@type=1", []string{"btrfs/17"}},
	{"dir_item.key.offset+1", []string{"btrfs/item"}},
	{"dir_item.type=9", []string{"btrfs/item"}},
	{"inode_item.mode=0", []string{"btrfs/item"}},
	{"extent_data.num_bytes+1@type=1", []string{"btrfs/item"}},
	{"root_item.bytenr+16384@objectid=5", []string{"btrfs/level"}},
	{"root_item.level+1@objectid=2", []string{"btrfs/level"}},
	{"super_block.stripesize+4096", []string{"btrfs/superblock"}},
	{"super_block.log_root+4096", []string{"btrfs/superblock"}},
	{"super_block.sys_chunk.stripe.dev_uuid+1", []string{"btrfs/chunk"}},
}

// TestEachRuleIsViolated checks that a change of one field in a real commit violates exactly the
// expected rules.
func TestEachRuleIsViolated(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	e := builtin(t)
	for _, tc := range ruleBreakers {
		t.Run(tc.spec, func(t *testing.T) {
			d := base.clone()
			f, err := btrfs.New(d)
			if err != nil {
				t.Fatal(err)
			}
			a, err := corrupt.NewAlterer(d, tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			var found []change.Violation
			commits := 0
			eachWrite(t, log, func(w interp.Write) bool {
				if s := a.Alter(w); s != "" {
					said = append(said, s)
				}
				obs := f.Observe(w)
				if obs.Unknown != nil {
					t.Fatal(obs.Unknown)
				}
				found = append(found, obs.Violations...)
				if obs.Txn != nil {
					found = append(found, check(t, e, obs.Txn, obs.View)...)
				}
				refused := len(found) > 0
				if !refused {
					d.apply(w)
				}
				f.Settle(!refused)
				if obs.Point == interp.CommitPoint {
					commits++
				}
				return !refused && commits < 3
			}, func(seq uint64) { f.Flushed(0, seq) })
			if len(said) == 0 {
				t.Fatal("nothing was changed")
			}
			t.Logf("%d blocks altered: %s", len(said), said[0])
			var rules []string
			for _, v := range found {
				rules = append(rules, v.Rule)
			}
			slices.Sort(rules)
			if d := cmp.Diff(tc.want, slices.Compact(rules)); d != "" {
				t.Errorf("rules (-want +got): %s", d)
				for _, v := range found {
					t.Logf("%s %s %s: %s", v.Rule, v.Tree, v.ID, v.Detail)
				}
			}
		})
	}
}

func TestAlterSpecErrorsNameWhatThereIs(t *testing.T) {
	for spec, want := range map[string]string{
		"inode.nlink+1":          "inode_item",
		"inode_item.links+1":     "nlink",
		"inode_item":             "nlink",
		"inode_item.nlink+x":     `"x" is not a number`,
		"inode_item.nlink+1@x=1": "nlink",
		"dir_item!remove":        "not of the form",
	} {
		_, err := corrupt.NewAlterer(newSparseDisk(1<<20), spec)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want it to name %s", spec, err, want)
		}
	}
}
