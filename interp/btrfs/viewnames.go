package btrfs

import (
	"bytes"
	"encoding/binary"
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Named yields those of the objects from lo to hi that have a name. The names of an inode in one
// directory are in one inode_ref, and in an inode_extref for each hash of a name.
func (v *view) Named(
	lo, hi change.Object, name []byte, yield func(change.Object, error) bool,
) {
	k := ondisk.Key{ObjectID: lo.ID, Type: ondisk.InodeRefKey, Offset: lo.Sub}
	if lo.Kind == ondisk.KindInodeExtref {
		k.Type, k.Offset = ondisk.InodeExtrefKey, ondisk.ExtrefHash(lo.Sub, name)
	}
	if err := v.decodeNamed(lo.Tree, k, lo.Kind, name); err != nil {
		yield(change.Object{}, err)
		return
	}
	var few [4]change.Object
	objs := few[:0]
	for _, e := range v.named.ents {
		if e.obj.Compare(lo) >= 0 && e.obj.Compare(hi) <= 0 {
			objs = append(objs, e.obj)
		}
	}
	slices.SortFunc(objs, change.Object.Compare)
	for _, o := range objs {
		if !yield(o, nil) {
			return
		}
	}
}

// bytesPerStep is the number of bytes of names that are compared in one step of the judgment.
const bytesPerStep = 64

// decodeNamed decodes the names in the item with a key that are equal to name.
func (v *view) decodeNamed(tree uint64, k ondisk.Key, kind change.Kind, name []byte) error {
	v.named.reset()
	root, ok, err := v.treeRoot(tree)
	if !ok || err != nil {
		return err
	}
	p, ok, err := v.seek(kind, tree, root.pointer, k)
	if !ok || err != nil || p.key() != k {
		return err
	}
	item := p.item()
	if k.Type != ondisk.InodeRefKey ||
		v.filters.mayHold(k, item, name) && refsHold(item.data(), name) {
		v.named.tree, v.named.named = tree, name
		if err := v.named.ref(&item); err != nil {
			return err
		}
	}
	return v.meter.Spend(1 + int64(item.data().Len())/bytesPerStep)
}

// refsHold reports whether an inode_ref has a name, or is malformed. It has up to a thousand names,
// and most of those that are looked for in a full one are in an inode_extref.
func refsHold(r disk.Region, name []byte) bool {
	b := r.Bytes()
	for len(b) >= ondisk.InodeRefSize {
		n := int(binary.LittleEndian.Uint16(b[ondisk.InodeRefNameLenAt:]))
		b = b[ondisk.InodeRefSize:]
		if n > len(b) {
			return true
		}
		// Many names begin alike and differ at the end.
		if n == len(name) && (n == 0 || b[n-1] == name[n-1]) && bytes.Equal(b[:n], name) {
			return true
		}
		b = b[n:]
	}
	return len(b) > 0
}
