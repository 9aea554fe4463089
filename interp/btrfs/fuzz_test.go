package btrfs_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/corrupt"
)

const nodeSize = 16384

// seedDisk is a small file system with files, whose trees are a leaf each.
func seedDisk(t testing.TB) *sparseDisk {
	t.Helper()
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	must(t, os.MkdirAll(filepath.Join(root, "dir"), 0o755))
	for i := range 8 {
		must(t, writeFile(filepath.Join(root, fmt.Sprintf("dir/file%d", i)), i*2000))
	}
	must(t, os.Symlink("target", filepath.Join(root, "link")))
	must(t, os.Link(filepath.Join(root, "dir/file1"), filepath.Join(root, "hard")))
	image := filepath.Join(dir, "image")
	mkfs(t, image, 128<<20, "-m", "single", "-r", root, "-U", "11111111-2222-3333-4444-555555555555")
	return openDisk(t, image)
}

// blocks returns the device addresses of the metadata blocks on a disk.
func blocks(d *sparseDisk) []int64 {
	fsid := make([]byte, 16)
	_, _ = d.ReadAt(fsid, primary+32)
	var found []int64
	for page := range d.pages {
		b := d.pages[page][:]
		if string(b[32:48]) == string(fsid) && page*pageSize != primary && page*pageSize != mirror {
			found = append(found, int64(page*pageSize))
		}
	}
	return found
}

// A cow rewrites trees of a disk as a transaction of its kernel would: every changed leaf at a new
// place.
type cow struct {
	t          testing.TB
	d          *sparseDisk
	generation uint64
	delta      int64 // device address less logical address, in the one chunk of metadata
	free       int64 // device address of the next free place
	root       []byte
	writes     []interp.Write
}

func startCow(t testing.TB, d *sparseDisk) *cow {
	sb := make([]byte, 4096) // the superblock
	_, _ = d.ReadAt(sb, primary)
	c := &cow{t: t, d: d, generation: binary.LittleEndian.Uint64(sb[72:]) + 1}
	logical := int64(binary.LittleEndian.Uint64(sb[80:]))
	for _, at := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, at)
		c.free = max(c.free, at+nodeSize)
		if int64(binary.LittleEndian.Uint64(b[48:])) == logical {
			c.delta, c.root = at-logical, b
		}
	}
	if c.root == nil || c.root[100] != 0 {
		t.Fatal("the root tree is not a leaf")
	}
	return c
}

// put writes a block to a new place and returns its logical address.
func (c *cow) put(b []byte) uint64 {
	logical := uint64(c.free - c.delta)
	binary.LittleEndian.PutUint64(b[48:], logical)
	binary.LittleEndian.PutUint64(b[80:], c.generation)
	reseal(b)
	c.writes = append(c.writes, interp.Write{Off: uint64(c.free), Len: nodeSize, Data: b})
	c.free += nodeSize
	return logical
}

// tree rewrites the leaf of a tree.
func (c *cow) tree(id uint64, change func(b []byte)) {
	for i := range int(binary.LittleEndian.Uint32(c.root[96:])) {
		head := c.root[101+25*i:]
		if binary.LittleEndian.Uint64(head) != id || head[8] != 132 {
			continue
		}
		item := c.root[101+binary.LittleEndian.Uint32(head[17:]):]
		b := make([]byte, nodeSize)
		_, _ = c.d.ReadAt(b, int64(binary.LittleEndian.Uint64(item[176:]))+c.delta)
		change(b)
		binary.LittleEndian.PutUint64(item[176:], c.put(b))
		binary.LittleEndian.PutUint64(item[160:], c.generation)
		return
	}
}

// commit writes the root tree and the superblock.
func (c *cow) commit(change func(b []byte)) []interp.Write {
	change(c.root)
	root := c.put(c.root)
	return append(c.writes, super(c.d, func(b []byte) {
		put64(72, c.generation)(b)
		put64(80, root)(b)
	}))
}

// edit changes bytes: each group of three is an offset behind the header's fixed part and a value.
func edit(edits []byte) func(b []byte) {
	return func(b []byte) {
		for ; len(edits) >= 3; edits = edits[3:] {
			at := 80 + (int(edits[0])<<8|int(edits[1]))%(len(b)-80)
			b[at] ^= edits[2]
		}
	}
}

// lookAround asks a view everything about the objects of a transaction.
func lookAround(t testing.TB, txn *change.Txn, v change.View) {
	schema := btrfs.Schema()
	for i, r := range txn.Records {
		if i > 300 {
			return
		}
		exists, err := v.Exists(r.Object)
		if err != nil {
			continue
		}
		got, has, err := v.Get(r.Object, r.Field)
		if err == nil && exists && r.Object.Tree != 0 && (has == r.New.IsNull() || got != r.New) {
			t.Errorf("%s: the view says %s", schema.RecordText(r, txn.Names), schema.ValueText(got, txn.Names))
		}
		if p, ok, err := v.Previous(r.Object); exists && ok && err == nil && p.Compare(r.Object) >= 0 {
			t.Errorf("%s is before %s", schema.IDText(p, txn.Names), schema.IDText(r.Object, txn.Names))
		}
		if n, ok, err := v.Next(r.Object); exists && ok && err == nil && n.Compare(r.Object) <= 0 {
			t.Errorf("%s is behind %s", schema.IDText(n, txn.Names), schema.IDText(r.Object, txn.Names))
		}
		lo, hi := r.Object, r.Object
		lo.Kind, hi.Kind, hi.Sub, hi.Aux = 0, ^change.Kind(0), ^uint64(0), ^uint64(0)
		var up, down []change.Object
		var failed error
		for o, err := range v.Scan(lo, hi) {
			if failed = errors.Join(failed, err); err != nil || len(up) > 50 {
				break
			}
			up = append(up, o)
		}
		for o, err := range v.ScanDown(lo, hi) {
			if failed = errors.Join(failed, err); err != nil || len(down) > 50 {
				break
			}
			down = append(down, o)
		}
		if slices.Reverse(down); failed == nil && len(up) <= 50 && !slices.Equal(up, down) {
			t.Errorf("%s: up %v, down %v", schema.IDText(r.Object, txn.Names), up, down)
		}
	}
}

// The commit that the fuzz test begins with is sound, and its answers are right.
func TestMadeCommit(t *testing.T) {
	d := seedDisk(t)
	f := follow(t, d)
	c := startCow(t, d)
	for _, id := range []uint64{2, 4, 5, 7} {
		c.tree(id, func([]byte) {})
	}
	points := 0
	for _, w := range c.commit(func([]byte) {}) {
		obs := f.Observe(w)
		if len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Fatalf("%+v", obs)
		}
		if obs.Txn != nil {
			points++
			lookAround(t, obs.Txn, obs.View)
			t.Logf("%d records", len(obs.Txn.Records))
		}
		d.apply(w)
		f.Settle(true)
	}
	if points != 1 {
		t.Errorf("%d commits", points)
	}
	obs, err := btrfs.Image(d)
	if err != nil || obs.Txn == nil {
		t.Fatalf("%v %+v", err, obs)
	}
	lookAround(t, obs.Txn, obs.View)
}

func FuzzObserve(f *testing.F) {
	seed := seedDisk(f)
	f.Add(uint8(2), []byte{0, 16, 1}, []byte{})
	f.Add(uint8(5), []byte{0, 21, 4, 15, 0, 255}, []byte{1, 2, 3})
	f.Add(uint8(7), []byte{}, []byte{0, 40, 2})
	f.Fuzz(func(t *testing.T, tree uint8, leaf, root []byte) {
		d := seed.clone()
		fs, err := btrfs.New(d)
		if err != nil {
			t.Fatal(err)
		}
		c := startCow(t, d)
		c.tree(uint64(tree%12), edit(leaf))
		for _, w := range c.commit(edit(root)) {
			obs := fs.Observe(w)
			if obs.Txn != nil {
				lookAround(t, obs.Txn, obs.View)
			}
			d.apply(w)
			fs.Settle(true)
		}
		if obs, err := btrfs.Image(d); err == nil && obs.Txn != nil {
			lookAround(t, obs.Txn, obs.View)
		}
		// A second commit has the first as its base, whatever it was.
		for _, w := range []interp.Write{super(d, func(b []byte) { b[72]++ }), {Off: 0, Len: 1 << 20}} {
			fs.Observe(w)
			fs.Settle(true)
		}
	})
}

func FuzzItem(f *testing.F) {
	d := seedDisk(f)
	for _, at := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, at)
		if b[100] != 0 {
			continue
		}
		for i := range int(binary.LittleEndian.Uint32(b[96:])) {
			head := b[101+25*i:]
			off, size := binary.LittleEndian.Uint32(head[17:]), binary.LittleEndian.Uint32(head[21:])
			f.Add(binary.LittleEndian.Uint64(b[88:]), binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[9:]), head[8], b[101+off:101+off+size])
		}
	}
	f.Fuzz(func(t *testing.T, tree, id, offset uint64, typ uint8, data []byte) {
		if n, err := btrfs.FuzzedItem(tree, id, offset, typ, data); err == nil && n == 0 {
			t.Error("an item without an object and without an error")
		}
	})
}

func FuzzNode(f *testing.F) {
	d := seedDisk(f)
	for _, at := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, at)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { _ = btrfs.FuzzedNode(b) })
}

func FuzzSuperblock(f *testing.F) {
	d := seedDisk(f)
	b := make([]byte, 4096)
	_, _ = d.ReadAt(b, primary)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { _ = btrfs.FuzzedSuper(b) })
}

func FuzzChunk(f *testing.F) {
	d := seedDisk(f)
	b := make([]byte, 4096)
	_, _ = d.ReadAt(b, primary)
	f.Add(uint64(1<<20), b[811+17:811+17+80])
	f.Fuzz(func(t *testing.T, logical uint64, b []byte) { _ = btrfs.FuzzedChunk(logical, b) })
}

func FuzzAlter(f *testing.F) {
	d := seedDisk(f)
	f.Add("inode_item.nlink+1@tree=5,objectid=256", []byte{})
	f.Add("dir_item!delete", []byte{0, 21, 4})
	f.Fuzz(func(t *testing.T, spec string, edits []byte) {
		a, err := corrupt.NewAlterer(d, spec)
		if err != nil {
			return
		}
		c := startCow(t, d)
		c.tree(5, edit(edits))
		for _, w := range c.commit(edit(edits)) {
			a.Alter(w)
		}
	})
}
