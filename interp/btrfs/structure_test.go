package btrfs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// setRoot changes the pointer in the root item of tree 5.
func (c *cow) setRoot(logical uint64, level byte) {
	item := c.rootItem(ondisk.FSTreeID)
	put64(ondisk.RootItemBytenrAt, logical)(item)
	put64(ondisk.RootItemGenerationAt, c.generation)(item)
	item[ondisk.RootItemLevelAt] = level
}

// last returns the leaf that was written last.
func (c *cow) last() []byte { return c.writes[len(c.writes)-1].Data }

// above writes a node of level 1 as the root of tree 5. Each of its keys points to the last leaf.
func (c *cow) above(keys ...ondisk.Key) {
	leaf := c.last()
	node := make([]byte, nodeSize)
	copy(node[:ondisk.HeaderSize], leaf)
	node[ondisk.HeaderLevelAt] = 1
	put32(ondisk.HeaderNrItemsAt, uint32(len(keys)))(node)
	for i, k := range keys {
		p := node[ondisk.HeaderSize+i*ondisk.KeyPtrSize:]
		k.Put(p[ondisk.KeyPtrKeyAt:])
		put64(ondisk.KeyPtrBlockptrAt, get64(leaf, ondisk.HeaderBytenrAt))(p)
		put64(ondisk.KeyPtrGenerationAt, c.generation)(p)
	}
	c.setRoot(c.put(node), 1)
}

func inodeKey(id uint64) ondisk.Key {
	return ondisk.Key{ObjectID: id, Type: ondisk.InodeItemKey}
}

// A structureCase is a commit that breaks one structure rule.
type structureCase struct {
	rule  string // the first rule that reports it; "": the commit is sound
	build func(c *cow)
	root  func(rootTree []byte) // alters the root tree; nil: unchanged
}

// Offsets in a node or leaf, of members of its first pointer and its first two items.
const (
	firstHead    = ondisk.HeaderSize
	secondHead   = firstHead + ondisk.ItemSize
	firstPointer = ondisk.HeaderSize + ondisk.KeyPtrBlockptrAt
)

func unchanged([]byte) {}

// edited returns a case that rewrites the leaf of tree 5 after a change, with a correct checksum.
func edited(rule string, change func(leaf []byte)) structureCase {
	return structureCase{rule: rule, build: func(c *cow) { c.tree(ondisk.FSTreeID, change) }}
}

// built returns a case that rewrites the leaf of tree 5, and then changes what was written.
func built(rule string, then func(c *cow)) structureCase {
	return structureCase{rule: rule, build: func(c *cow) {
		c.tree(ondisk.FSTreeID, unchanged)
		then(c)
	}}
}

// withNode returns a case with a node of level 1 above the leaf of tree 5, after a change of the
// node.
func withNode(rule string, change func(node []byte)) structureCase {
	return built(rule, func(c *cow) {
		c.above(inodeKey(256))
		change(c.last())
		reseal(c.last())
	})
}

var structureCases = []structureCase{
	built("", func(*cow) {}),
	withNode("", unchanged),
	built("btrfs/csum", func(c *cow) { c.last()[4000] ^= 1 }),
	edited("btrfs/header", func(b []byte) { b[ondisk.HeaderFSIDAt+1] ^= 1 }),
	edited("btrfs/header", func(b []byte) { b[ondisk.HeaderChunkTreeUUIDAt+1] ^= 1 }),
	built("btrfs/misdirected", func(c *cow) {
		c.last()[ondisk.HeaderBytenrAt+2] ^= 1
		reseal(c.last())
	}),
	built("btrfs/level", func(c *cow) { c.setRoot(get64(c.last(), ondisk.HeaderBytenrAt), 1) }),
	edited("btrfs/owner", func(b []byte) { b[ondisk.HeaderOwnerAt] = 7 }),
	edited("btrfs/owner", func(b []byte) { b[ondisk.HeaderOwnerAt+1] = 2 }), // tree 517
	built("btrfs/generation", func(c *cow) {
		c.last()[ondisk.HeaderGenerationAt]++
		reseal(c.last())
	}),
	edited("btrfs/nritems", put32(ondisk.HeaderNrItemsAt, 1<<31)),
	{rule: "btrfs/nritems", build: func(c *cow) {
		c.tree(ondisk.FSTreeID, put32(ondisk.HeaderNrItemsAt, 0))
		c.above(inodeKey(256))
	}},
	edited("btrfs/key-order", func(b []byte) { b[firstHead] = 2; b[firstHead+1] = 9 }),
	built("btrfs/key-order", func(c *cow) { c.above(inodeKey(256), inodeKey(257)) }),
	withNode("btrfs/block-pointer", put64(firstPointer, 0)),
	withNode("btrfs/block-pointer", func(b []byte) { b[firstPointer]++ }),
	withNode("btrfs/nritems", put32(ondisk.HeaderNrItemsAt, 1000)),
	built("btrfs/parent-key", func(c *cow) { c.above(inodeKey(255)) }),
	built("btrfs/block-twice", func(c *cow) { c.above(inodeKey(256), inodeKey(1<<40)) }),
	edited("btrfs/item-bounds", put32(firstHead+ondisk.ItemOffsetAt, 1<<31)),
	edited("btrfs/item-bounds", func(b []byte) { b[firstHead+ondisk.ItemSizeAt]++ }),
	built("btrfs/block-pointer", func(c *cow) { c.setRoot(1<<40, 0) }),
	built("btrfs/item", func(c *cow) { c.setRoot(100, 0) }),
	edited("btrfs/item-type", func(b []byte) { b[firstHead+ondisk.DiskKeyTypeAt] = 2 }),
	// The first root item is that of the extent tree.
	{rule: "btrfs/root", build: func(*cow) {}, root: put64(firstHead, 1)},
	{rule: "btrfs/item-overlap", build: func(c *cow) { c.tree(ondisk.CsumTreeID, splitSums) }},
	{rule: "btrfs/base-block", build: func(c *cow) {
		sb := make([]byte, ondisk.SuperSize)
		_, _ = c.d.ReadAt(sb, primary)
		old := get64(sb, ondisk.SuperRootAt) + uint64(c.delta)
		c.writes = append(c.writes, interp.Write{Off: old, Len: 4096, Data: make([]byte, 4096)})
	}},
}

// splitSums splits the only extent_csum of a leaf into two halves. The second half begins at the
// second sector of the first.
func splitSums(b []byte) {
	head, next := itemHead(b, 0), itemHead(b, 1)
	copy(next, head)
	off := get32(head, ondisk.ItemOffsetAt)
	size := get32(head, ondisk.ItemSizeAt)
	half := size / 8 * 4
	put32(ondisk.ItemOffsetAt, off+half)(head)
	put32(ondisk.ItemSizeAt, size-half)(head)
	put32(ondisk.ItemSizeAt, half)(next)
	put64(ondisk.DiskKeyOffsetAt, get64(head, ondisk.DiskKeyOffsetAt)+4096)(next)
	put32(ondisk.HeaderNrItemsAt, 2)(b)
}

// run observes the commit, and returns the first rule that it breaks and the number of commits.
func (tc structureCase) run(t *testing.T, d *sparseDisk) (rule string, commits int) {
	t.Helper()
	f, c := follow(t, d), startCow(t, d)
	tc.build(c)
	root := tc.root
	if root == nil {
		root = unchanged
	}
	for _, w := range c.commit(root) {
		obs := f.Observe(w)
		if obs.Unknown != nil {
			t.Errorf("%s: %v", tc.rule, obs.Unknown)
		}
		for _, v := range obs.Violations {
			if rule == "" {
				rule = v.Rule
			}
			if v.Detail == "" || v.Doc == "" {
				t.Errorf("%s has no detail or doc", v.Rule)
			}
			t.Logf("%s %s at %d: %s", v.Rule, v.ID, v.Addr, v.Detail)
		}
		if obs.Point == interp.CommitPoint {
			commits++
		}
		d.apply(w)
		f.Settle(true)
	}
	return rule, commits
}

// TestStructureRules checks that each structure rule is the first to report the fault that it is
// for.
func TestStructureRules(t *testing.T) {
	seed := seedDisk(t)
	found := map[string]bool{}
	for _, tc := range structureCases {
		rule, commits := tc.run(t, seed.clone())
		if rule != tc.rule || commits != 1 {
			t.Errorf("%d commits, rule %q, want %q", commits, rule, tc.rule)
		}
		found[rule] = true
	}
	for name, test := range map[string]string{
		"btrfs/superblock": "TestSuperblockWrites", "btrfs/csum-type": "TestSuperblockWrites",
		"btrfs/copies": "TestCopiesDiffer", "btrfs/chunk": "TestEachRuleIsViolated",
		"btrfs/unique": "TestObjectTwice", "btrfs/refused-copy": "TestSuperblockCopies",
		"btrfs/flush": "TestLostFlush", "btrfs/base-data": "TestStrayWrites of hostd",
		"btrfs/log-block": "TestStrayWrites of hostd",
	} {
		if found[name] {
			t.Errorf("this test breaks %s, which %s is for", name, test)
		}
		found[name] = true
	}
	for _, c := range btrfs.Checks() {
		if !found[c.Name] {
			t.Errorf("no test breaks %s: %s", c.Name, c.Doc)
		}
	}
}

// TestObjectTwice checks that an inode_ref that is split into two names with the same index is
// reported as one object that occurs twice.
func TestObjectTwice(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "root"), 0o755))
	must(t, writeFile(filepath.Join(dir, "root", "two-names-in-it"), 5))
	image := filepath.Join(dir, "image")
	mkfs(t, image, 128<<20, "-m", "single", "-r", filepath.Join(dir, "root"))
	d := openDisk(t, image)
	b, at := liveLeaf(d, 5)
	ref := bytes.Index(b, []byte("\x0f\x00two-names-in-it")) - ondisk.InodeRefNameLenAt
	if ref < 0 {
		t.Fatal("there is no inode_ref")
	}
	index := b[ref : ref+ondisk.InodeRefNameLenAt]
	one, four := join(index, num(2, 1), []byte("t")), join(index, num(2, 4), []byte("in-i"))
	copy(b[ref:], join(one, four))
	reseal(b)
	_, _ = d.WriteAt(b, at)
	obs, err := btrfs.Image(d)
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/unique" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}

// TestCopiesDiffer checks that under DUP, a difference between the copies of a block is reported.
func TestCopiesDiffer(t *testing.T) {
	d := madeDisk(t, "-n", "16384")
	places, b := rootCopies(d)
	if len(places) == 0 {
		t.Fatal("there is no root of the root tree")
	}
	b[headAt(itemCount(b))+7] ^= 0xff // the space between the headers and the data is unused
	reseal(b)
	_, _ = d.WriteAt(b, int64(places[0]))
	obs, err := btrfs.Image(d)
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/copies" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}
