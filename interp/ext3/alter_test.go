package ext3_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/ext3/corrupt"
	"fsward/shareddata"
)

var errStop = errors.New("stop")

// commitAlterations are alterations of a recorded log, with the rule that must report each.
var commitAlterations = []struct {
	spec, rule string
	from       uint32 // the first commit that may be altered
}{
	{"inode.block0+40000", "ext3/1", 3},
	{"inode.block0=0", "ext3/3", 3},
	{"inode.block1-1", "ext3/5", 3},
	{"block_bitmap!unset_new", "ext3/1", 3},
	{"block_bitmap!unset", "ext3/4", 3},
	{"block_bitmap!set", "ext3/3", 3},
	{"inode_bitmap!set", "ext3/6", 3},
	{"block_bitmap!set_freed", "ext3/2", 22},
	{"inode_bitmap!unset_new", "ext3/6", 3},
	{"inode_bitmap!set_freed", "ext3/14", 22},
	{"inode.links_count+1", "ext3/7", 3},
	{"inode.links_count=0", "ext3/8", 3},
	{"inode.mode^0x2000", "ext3/9", 3}, // a file becomes a symbolic link
	{"dirent.inode+1", "ext3/7", 3},
	{"dirent.inode=20000", "ext3/8", 3},
	{"dirent.file_type=2", "ext3/9", 3},
	{"dirent.file_type=9", "ext3/dirent-type", 3},
	{"dirent.rec_len+1", "ext3/dirent-length", 3},
	{"dirent.rec_len=4096", "ext3/dirent-length", 3},
	{"dirent.name_len=0", "ext3/dirent-name", 3},
	{"dirent.inode=4000000000", "ext3/dirent-inode", 3},
	{"group.free_blocks_count+1", "ext3/10", 3},
	{"group.free_inodes_count-1", "ext3/10", 3},
	{"group.used_dirs_count+1", "ext3/10", 3},
	{"group.inode_table+1", "ext3/group-descriptor", 3},
	{"group.free_blocks_count=65535", "ext3/group-descriptor", 3},
	{"group.flags=3", "ext3/23", 3},
	{"inode.blocks+8", "ext3/13", 3},
	{"inode.dtime=5", "ext3/15", 3},
	{"inode.size+4096", "ext3/16", 3},
	{"inode.faddr=1", "ext3/17", 3},
	{"inode.blocks_high=1", "ext3/17", 3},
	{"inode.file_acl_high=1", "ext3/17", 3},
	{"inode.size_high=1", "ext3/17", 3},
	{"inode.flags^0x2000", "ext3/17", 3},
	{"inode.mode^0x6000", "ext3/18", 3},
	{"dirent.inode=2", "ext3/19", 3},
	{"inode.mode=0", "ext3/inode-mode", 3},
	{"inode.size=1", "ext3/inode-size", 3},
	{"inode.flags^0x80000", "ext3/inode-flags", 3},
	{"inode.block0=70", "ext3/block-pointer", 3},
	{"inode.block0=0x7fffffff", "ext3/block-pointer", 3},
	{"inode.block12=0x7fffffff", "ext3/block-pointer", 3},
}

// TestAlteredCommits checks for each rule that it reports an alteration of a real commit that
// violates it.
func TestAlteredCommits(t *testing.T) {
	base := ext3.Unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst"))
	log := ext3.Unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst"))
	rules := ext3.Engine(t)
	for _, tc := range commitAlterations {
		t.Run(tc.spec, func(t *testing.T) {
			d := ext3.OpenImage(t, base)
			fs, err := ext3.New(d)
			if err != nil {
				t.Fatal(err)
			}
			alter, err := corrupt.NewAlterer(d, tc.spec)
			if err != nil {
				t.Fatal(err)
			}
			what := ""
			_ = ext3.EachWrite(t, log, func(w interp.Write) error {
				if seq, mounted := ext3.NextCommit(fs); mounted && seq >= tc.from {
					what += alter.Alter(w)
				}
				obs := fs.Observe(w)
				if obs.Point == interp.CommitPoint && what != "" {
					found := strings.Join(ext3.Judge(rules, obs), "\n")
					if !strings.Contains(found, tc.rule+" ") {
						t.Errorf("%s: want %s, found %s", what, tc.rule, found)
					} else {
						t.Logf("%s: %.200s", what, found)
					}
					return errStop
				}
				if obs.Point == interp.CommitPoint && obs.Txn == nil {
					t.Fatalf("not altered and not sound: %v %v", obs.Violations, obs.Unknown)
				}
				d.Apply(w)
				fs.Settle(true)
				return nil
			})
			if what == "" {
				t.Error("nothing was altered")
			}
		})
	}
}

// TestAlteredReferenceCount checks that a wrong reference count of an extended attribute block,
// which Linux shares between inodes, is refused.
func TestAlteredReferenceCount(t *testing.T) {
	image := ext3.Mkfs(t, "64M", "-I", "128")
	base := ext3.ReadFile(t, image)
	f := ext3.Follow(t, image, 1, nil, nil, ext3.Xattrs)
	d := ext3.NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := ext3.New(d)
	if err != nil {
		t.Fatal(err)
	}
	alter, err := corrupt.NewAlterer(d, "xattr_block.refcount+1")
	if err != nil {
		t.Fatal(err)
	}
	what := ""
	for _, w := range f.Writes {
		what += alter.Alter(w)
		obs := fs.Observe(w)
		if obs.Point == interp.CommitPoint && what != "" {
			if found := strings.Join(ext3.Judge(f.Rules, obs), "\n"); !strings.Contains(found, "ext3/12 ") {
				t.Errorf("%s: want ext3/12, found %s", what, found)
			}
			return
		}
		d.Apply(w)
		fs.Settle(true)
	}
	t.Error("no reference count was altered")
}
