package btrfs_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
)

// setRoot changes the pointer in the root item of tree 5.
func (c *cow) setRoot(logical uint64, level byte) {
	for i := range int(binary.LittleEndian.Uint32(c.root[96:])) {
		head := c.root[101+25*i:]
		if binary.LittleEndian.Uint64(head) == 5 && head[8] == 132 {
			item := c.root[101+binary.LittleEndian.Uint32(head[17:]):]
			binary.LittleEndian.PutUint64(item[176:], logical)
			binary.LittleEndian.PutUint64(item[160:], c.generation)
			item[238] = level
		}
	}
}

// last is the leaf that was written last.
func (c *cow) last() []byte { return c.writes[len(c.writes)-1].Data }

// above puts a node of level 1 over the last leaf of tree 5, with its first key and the others
// given.
func (c *cow) above(keys ...[17]byte) {
	leaf := c.last()
	node := make([]byte, nodeSize)
	copy(node[:101], leaf[:101])
	node[100] = 1
	binary.LittleEndian.PutUint32(node[96:], uint32(len(keys)))
	for i, k := range keys {
		p := node[101+33*i:]
		copy(p, k[:])
		binary.LittleEndian.PutUint64(p[17:], binary.LittleEndian.Uint64(leaf[48:]))
		binary.LittleEndian.PutUint64(p[25:], c.generation)
	}
	c.setRoot(c.put(node), 1)
}

func inodeKey(id uint64) (k [17]byte) {
	binary.LittleEndian.PutUint64(k[:], id)
	k[8] = 1
	return k
}

// Each check of structure finds what it is for, first of all.
func TestStructureRules(t *testing.T) {
	seed := seedDisk(t)
	none := func([]byte) {}
	found := map[string]bool{}
	first := inodeKey(256)
	for _, tc := range []struct {
		rule  string
		build func(c *cow) []interp.Write
	}{
		{"", func(c *cow) []interp.Write { c.tree(5, none); return c.commit(none) }},
		{"", func(c *cow) []interp.Write { c.tree(5, none); c.above(first); return c.commit(none) }},
		{"btrfs/csum", func(c *cow) []interp.Write { c.tree(5, none); c.last()[4000] ^= 1; return c.commit(none) }},
		{"btrfs/header", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[33] ^= 1 }); return c.commit(none) }},
		{"btrfs/header", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[65] ^= 1 }); return c.commit(none) }},
		{"btrfs/misdirected", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.last()[50] ^= 1
			reseal(c.last())
			return c.commit(none)
		}},
		{"btrfs/level", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.setRoot(binary.LittleEndian.Uint64(c.last()[48:]), 1)
			return c.commit(none)
		}},
		{"btrfs/owner", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[88] = 7 }); return c.commit(none) }},
		{"btrfs/owner", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[89] = 2 }); return c.commit(none) }}, // tree 517
		{"btrfs/generation", func(c *cow) []interp.Write { c.tree(5, none); c.last()[80]++; reseal(c.last()); return c.commit(none) }},
		{"btrfs/nritems", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { put32(96, 1<<31)(b) }); return c.commit(none) }},
		{"btrfs/nritems", func(c *cow) []interp.Write {
			c.tree(5, func(b []byte) { put32(96, 0)(b) })
			c.above(first)
			return c.commit(none)
		}},
		{"btrfs/key-order", func(c *cow) []interp.Write {
			c.tree(5, func(b []byte) { b[101] = 2; b[102] = 9 })
			return c.commit(none)
		}},
		{"btrfs/key-order", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.above(first, inodeKey(257))
			return c.commit(none)
		}},
		{"btrfs/block-pointer", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.above(first)
			put64(101+17, 0)(c.last())
			reseal(c.last())
			return c.commit(none)
		}},
		{"btrfs/block-pointer", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.above(first)
			c.last()[101+17]++
			reseal(c.last())
			return c.commit(none)
		}},
		{"btrfs/nritems", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.above(first)
			put32(96, 1000)(c.last())
			reseal(c.last())
			return c.commit(none)
		}},
		{"btrfs/parent-key", func(c *cow) []interp.Write { c.tree(5, none); c.above(inodeKey(255)); return c.commit(none) }},
		{"btrfs/block-twice", func(c *cow) []interp.Write {
			c.tree(5, none)
			c.above(first, inodeKey(1<<40))
			return c.commit(none)
		}},
		{"btrfs/item-bounds", func(c *cow) []interp.Write {
			c.tree(5, func(b []byte) { put32(101+17, 1<<31)(b) })
			return c.commit(none)
		}},
		{"btrfs/item-bounds", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[101+21]++ }); return c.commit(none) }},
		{"btrfs/block-pointer", func(c *cow) []interp.Write { c.tree(5, none); c.setRoot(1<<40, 0); return c.commit(none) }},
		{"btrfs/item", func(c *cow) []interp.Write { c.tree(5, none); c.setRoot(100, 0); return c.commit(none) }},
		{"btrfs/item-type", func(c *cow) []interp.Write { c.tree(5, func(b []byte) { b[101+8] = 2 }); return c.commit(none) }},
		{"btrfs/root", func(c *cow) []interp.Write {
			return c.commit(func(b []byte) { // the first root item is that of the extent tree
				binary.LittleEndian.PutUint64(b[101:], 1)
			})
		}},
		{"btrfs/item-overlap", func(c *cow) []interp.Write {
			c.tree(7, func(b []byte) { // one extent_csum, cut into two halves, of which the second moves to the first's second sector
				head, next := b[101:126], b[126:151]
				copy(next, head)
				off, half := binary.LittleEndian.Uint32(head[17:]), binary.LittleEndian.Uint32(head[21:])/8*4
				put32(101+17, off+half)(b)
				put32(101+21, binary.LittleEndian.Uint32(head[21:])-half)(b)
				put32(126+21, half)(b)
				binary.LittleEndian.PutUint64(next[9:], binary.LittleEndian.Uint64(head[9:])+4096)
				put32(96, 2)(b)
			})
			return c.commit(none)
		}},
		{"btrfs/base-block", func(c *cow) []interp.Write {
			sb := make([]byte, 4096)
			_, _ = c.d.ReadAt(sb, primary)
			old := binary.LittleEndian.Uint64(sb[80:]) + uint64(c.delta)
			return append([]interp.Write{{Off: old, Len: 4096, Data: make([]byte, 4096)}}, c.commit(none)...)
		}},
	} {
		d := seed.clone()
		f := follow(t, d)
		rule, commits := "", 0
		for _, w := range tc.build(startCow(t, d)) {
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
		if rule != tc.rule || commits != 1 {
			t.Errorf("%d commits, rule %q, want %q", commits, rule, tc.rule)
		}
		found[rule] = true
	}
	for name, test := range map[string]string{
		"btrfs/superblock": "TestSuperblockWrites", "btrfs/csum-type": "TestSuperblockWrites", "btrfs/copies": "TestCopiesDiffer",
		"btrfs/chunk": "TestEachRuleIsViolated", "btrfs/unique": "TestObjectTwice", "btrfs/refused-copy": "TestSuperblockCopies",
		"btrfs/flush": "TestLostFlush", "btrfs/base-data": "TestStrayWrites of hostd", "btrfs/log-block": "TestStrayWrites of hostd",
	} {
		if found[name] {
			t.Errorf("%s is found here, and %s is named for it", name, test)
		}
		found[name] = true
	}
	for _, c := range btrfs.Checks() {
		if !found[c.Name] {
			t.Errorf("no test shows %s violated: %s", c.Name, c.Doc)
		}
	}
}

func put32(off int, v uint32) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint32(b[off:], v) }
}

// A file has the same name at the same place twice: its inode_ref is cut into two, both with the
// index that it had.
func TestObjectTwice(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "root"), 0o755))
	must(t, writeFile(filepath.Join(dir, "root", "two-names-in-it"), 5))
	image := filepath.Join(dir, "image")
	mkfs(t, image, 128<<20, "-m", "single", "-r", filepath.Join(dir, "root"))
	d := openDisk(t, image)
	b, at := liveLeaf(d, 5)
	ref := bytes.Index(b, []byte("\x0f\x00two-names-in-it")) - 8
	if ref < 0 {
		t.Fatal("there is no inode_ref")
	}
	one, four := join(b[ref:ref+8], num(2, 1), []byte("t")), join(b[ref:ref+8], num(2, 4), []byte("in-it")[:4])
	copy(b[ref:], join(one, four))
	reseal(b)
	_, _ = d.WriteAt(b, at)
	obs, err := btrfs.Image(d)
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/unique" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}

// Under DUP a new block has to be the same in both places.
func TestCopiesDiffer(t *testing.T) {
	d := madeDisk(t, "-n", "16384")
	sb := make([]byte, 4096)
	_, _ = d.ReadAt(sb, primary)
	b := make([]byte, 16384)
	changed := 0
	for page := range d.pages {
		at := int64(page * pageSize)
		_, _ = d.ReadAt(b, at)
		if string(b[32:48]) != string(sb[32:48]) || string(b[48:56]) != string(sb[80:88]) || at == primary || at == mirror {
			continue
		}
		// Between the headers and the data of a leaf is nothing.
		b[101+25*int(b[96])+7] ^= 0xff
		binary.LittleEndian.PutUint32(b, crc32.Checksum(b[32:], crc32.MakeTable(crc32.Castagnoli)))
		_, _ = d.WriteAt(b, at)
		changed++
		break
	}
	if changed == 0 {
		t.Fatal("the root of the root tree is nowhere")
	}
	obs, err := btrfs.Image(d)
	if err != nil || len(obs.Violations) == 0 || obs.Violations[0].Rule != "btrfs/copies" {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}
