package btrfs_test

import (
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
	"fsward/interp/btrfs/ondisk"
)

const nodeSize = 16384

// seedDisk returns a small file system with files. Each of its trees is a single leaf.
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
	mkfs(t, image, 128<<20, "-m", "single", "-r", root,
		"-U", "11111111-2222-3333-4444-555555555555")
	return openDisk(t, image)
}

// blocks returns the device addresses of the metadata blocks on a disk.
func blocks(d *sparseDisk) []int64 {
	fsid := fsidOf(d)
	var found []int64
	for page := range d.pages {
		at := page * pageSize
		if fsidIn(d.pages[page][:]) == fsid && at != primary && at != mirror {
			found = append(found, int64(at))
		}
	}
	return found
}

// A cow rewrites trees of a disk as a transaction of a kernel does: it writes every changed leaf to
// a new place.
type cow struct {
	t          testing.TB
	d          *sparseDisk
	generation uint64
	delta      int64  // device address minus logical address in the only chunk of metadata
	free       int64  // device address of the next free place
	root       []byte // the leaf of the root tree
	writes     []interp.Write
}

func startCow(t testing.TB, d *sparseDisk) *cow {
	sb := make([]byte, ondisk.SuperSize)
	_, _ = d.ReadAt(sb, primary)
	c := &cow{t: t, d: d, generation: get64(sb, ondisk.SuperGenerationAt) + 1}
	logical := int64(get64(sb, ondisk.SuperRootAt))
	for _, at := range blocks(d) {
		b := make([]byte, nodeSize)
		_, _ = d.ReadAt(b, at)
		c.free = max(c.free, at+nodeSize)
		if int64(get64(b, ondisk.HeaderBytenrAt)) == logical {
			c.delta, c.root = at-logical, b
		}
	}
	if c.root == nil || c.root[ondisk.HeaderLevelAt] != 0 {
		t.Fatal("the root tree is not a leaf")
	}
	return c
}

// put writes a block to a new place and returns its logical address.
func (c *cow) put(b []byte) uint64 {
	logical := uint64(c.free - c.delta)
	put64(ondisk.HeaderBytenrAt, logical)(b)
	put64(ondisk.HeaderGenerationAt, c.generation)(b)
	reseal(b)
	c.writes = append(c.writes, interp.Write{Off: uint64(c.free), Len: nodeSize, Data: b})
	c.free += nodeSize
	return logical
}

// rootItem returns the root item of a tree, or nil.
func (c *cow) rootItem(id uint64) []byte {
	for i := range itemCount(c.root) {
		if k := itemKey(c.root, i); k.ObjectID == id && k.Type == ondisk.RootItemKey {
			return itemData(c.root, i)
		}
	}
	return nil
}

// tree rewrites the leaf of a tree.
func (c *cow) tree(id uint64, change func(b []byte)) {
	item := c.rootItem(id)
	if item == nil {
		return
	}
	b := make([]byte, nodeSize)
	_, _ = c.d.ReadAt(b, int64(get64(item, ondisk.RootItemBytenrAt))+c.delta)
	change(b)
	put64(ondisk.RootItemBytenrAt, c.put(b))(item)
	put64(ondisk.RootItemGenerationAt, c.generation)(item)
}

// commit writes the root tree and the superblock.
func (c *cow) commit(change func(b []byte)) []interp.Write {
	change(c.root)
	root := c.put(c.root)
	return append(c.writes, super(c.d, func(b []byte) {
		put64(ondisk.SuperGenerationAt, c.generation)(b)
		put64(ondisk.SuperRootAt, root)(b)
	}))
}

// edit returns a function that alters bytes. Each group of three bytes in edits is an offset behind
// chunk_tree_uuid of the header, and a value to xor.
func edit(edits []byte) func(b []byte) {
	const from = ondisk.HeaderGenerationAt
	return func(b []byte) {
		for ; len(edits) >= 3; edits = edits[3:] {
			at := from + (int(edits[0])<<8|int(edits[1]))%(len(b)-from)
			b[at] ^= edits[2]
		}
	}
}

// lookAround asks a view for the fields and the neighbors of the objects of a transaction.
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
			t.Errorf("%s: the view says %s",
				schema.RecordText(r, txn.Names), schema.ValueText(got, txn.Names))
		}
		id := func(o change.Object) string { return schema.IDText(o, txn.Names) }
		p, ok, err := v.Previous(r.Object)
		if exists && ok && err == nil && p.Compare(r.Object) >= 0 {
			t.Errorf("Previous returns %s for %s", id(p), id(r.Object))
		}
		n, ok, err := v.Next(r.Object)
		if exists && ok && err == nil && n.Compare(r.Object) <= 0 {
			t.Errorf("Next returns %s for %s", id(n), id(r.Object))
		}
		lo, hi := r.Object, r.Object
		lo.Kind, hi.Kind, hi.Sub, hi.Aux = 0, ^change.Kind(0), ^uint64(0), ^uint64(0)
		if schema.Kinds[r.Object.Kind].ByName != 0 {
			v.(change.Namer).Named(r.Object, r.Object, []byte("x"), func(change.Object, error) bool {
				return true
			})
		}
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
			t.Errorf("%s: up %v, down %v", id(r.Object), up, down)
		}
	}
}

// TestMadeCommit checks that the commit from which the fuzz test starts is sound, and its View
// answers correctly.
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
		// The base of a second commit is the first one, sound or not. An erasure follows.
		next := super(d, func(b []byte) { b[ondisk.SuperGenerationAt]++ })
		for _, w := range []interp.Write{next, {Off: 0, Len: 1 << 20}} {
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
		if b[ondisk.HeaderLevelAt] != 0 {
			continue
		}
		for i := range itemCount(b) {
			k, tree := itemKey(b, i), get64(b, ondisk.HeaderOwnerAt)
			f.Add(tree, k.ObjectID, k.Offset, k.Type, itemData(b, i))
		}
	}
	f.Fuzz(func(t *testing.T, tree, id, offset uint64, typ uint8, data []byte) {
		if n, err := btrfs.FuzzedItem(tree, id, offset, typ, data); err == nil && n == 0 {
			t.Error("the decoder finds neither an object nor an error")
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
	b := make([]byte, ondisk.SuperSize)
	_, _ = d.ReadAt(b, primary)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { _ = btrfs.FuzzedSuper(b) })
}

func FuzzChunk(f *testing.F) {
	d := seedDisk(f)
	b := make([]byte, 4096)
	_, _ = d.ReadAt(b, primary)
	const at = ondisk.SuperSysChunkArrayAt + ondisk.DiskKeySize
	f.Add(uint64(1<<20), b[at:at+ondisk.ChunkSize])
	f.Add(uint64(1<<20), parityChunk(ondisk.GroupRAID5, 2))
	f.Add(uint64(1<<20), parityChunk(ondisk.GroupRAID6, 4))
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
