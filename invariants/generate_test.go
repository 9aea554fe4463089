package invariants_test

import (
	"encoding/binary"
	"hash/crc32"
	"iter"

	"fsward/change"
)

// generated is a transaction that creates files, with the state after it. The state is computed and
// not stored, so that benchmarks measure the engine and not the tables of a view.
type generated struct {
	inodeKind, refKind, itemKind, indexKind, dataKind, extentKind change.Kind
	nameField, nameLenField, locationField, modeField, typField   change.Field

	txn    *change.Txn
	files  uint64
	perDir uint64 // files in a directory
	names  []change.Value
	hashes []uint32 // of the names
	kinds  map[string]change.Kind
	fields map[string]change.Field
}

const (
	firstInode  = 1 << 20
	firstDir    = 256
	extentSize  = 4096
	firstExtent = 1 << 30
	overlapping = 11 // the file whose extent overlaps the next one
	misnamed    = 7  // the file whose dir_index has another name
)

// recordsPerFile is the number of records of a new file.
const recordsPerFile = 24

// generate makes a transaction of about n records, in a tree of directories or in one flat
// directory.
func generate(n int, flat bool) *generated {
	g := &generated{files: uint64(max(20, n/recordsPerFile)), perDir: 64,
		kinds: map[string]change.Kind{}, fields: map[string]change.Field{}}
	if flat {
		g.perDir = 1 << 40
	}
	s := &change.Schema{FS: "btrfs", Kinds: []change.KindInfo{{}}, Fields: []string{"object"},
		Words: []string{"present", "s_ifreg"}}
	for _, f := range []string{"size", "nlink", "flags", "f(mode,s_ifmt)", "name", "name_len",
		"location", "type", "num_bytes", "refs"} {
		g.fields[f] = change.Field(len(s.Fields))
		s.Fields = append(s.Fields, f)
	}
	for _, k := range []string{"inode_item", "inode_ref", "dir_item", "dir_index", "extent_data",
		"extent_item"} {
		g.kinds[k] = change.Kind(len(s.Kinds))
		info := change.KindInfo{Name: k, Unique: true}
		if k == "inode_ref" {
			info.Shape, info.Unique = change.ShapePair, false
		}
		s.Kinds = append(s.Kinds, info)
	}
	g.inodeKind, g.refKind, g.itemKind = g.kinds["inode_item"], g.kinds["inode_ref"],
		g.kinds["dir_item"]
	g.indexKind, g.dataKind, g.extentKind = g.kinds["dir_index"], g.kinds["extent_data"],
		g.kinds["extent_item"]
	g.nameField, g.nameLenField, g.locationField = g.fields["name"], g.fields["name_len"],
		g.fields["location"]
	g.modeField, g.typField = g.fields["f(mode,s_ifmt)"], g.fields["type"]
	g.txn = &change.Txn{Schema: s, Names: change.NewNames()}
	g.txn.Records = make([]change.Record, 0, g.files*recordsPerFile)
	for i := range g.files {
		text := binary.LittleEndian.AppendUint32([]byte(namePrefix), uint32(i))
		g.names = append(g.names, g.txn.Names.Intern(text))
		g.hashes = append(g.hashes, nameHash(text))
	}
	for i := range g.files {
		g.create(i)
	}
	return g
}

func (g *generated) dir(i uint64) uint64   { return firstDir + i/g.perDir }
func (g *generated) index(i uint64) uint64 { return 2 + i%g.perDir }

// of returns the object of a kind that belongs to a file.
func (g *generated) of(i uint64, kind change.Kind) change.Object {
	switch kind {
	case g.inodeKind:
		return change.Object{Tree: 5, ID: firstInode + i, Kind: kind}
	case g.refKind:
		return change.Object{Tree: 5, ID: firstInode + i, Kind: kind, Sub: g.dir(i), Aux: g.index(i)}
	case g.itemKind:
		return change.Object{Tree: 5, ID: g.dir(i), Kind: kind, Sub: uint64(g.hashes[i])}
	case g.indexKind:
		return change.Object{Tree: 5, ID: g.dir(i), Kind: kind, Sub: g.index(i)}
	case g.dataKind:
		return change.Object{Tree: 5, ID: firstInode + i, Kind: kind}
	default:
		size := uint64(extentSize)
		if i == overlapping {
			size *= 2
		}
		return change.Object{Tree: 2, ID: firstExtent + i*extentSize, Kind: kind, Sub: size}
	}
}

func (g *generated) create(i uint64) {
	for _, k := range []struct {
		kind   string
		fields []string
	}{
		{"inode_item", []string{"size", "nlink", "flags", "f(mode,s_ifmt)"}},
		{"inode_ref", []string{"name", "name_len"}},
		{"dir_item", []string{"location", "name", "name_len", "type"}},
		{"dir_index", []string{"location", "name", "name_len", "type"}},
		{"extent_data", []string{"num_bytes", "type"}},
		{"extent_item", []string{"refs", "flags"}},
	} {
		o := g.of(i, g.kinds[k.kind])
		g.txn.Add(o)
		for _, f := range k.fields {
			v, _, _ := g.Get(o, g.fields[f])
			g.txn.Append(change.Record{Object: o, Field: g.fields[f], New: v})
		}
	}
}

// namePrefix begins each name, and the number of the file in four bytes ends it. So the file
// follows from the hash of a name, without a table that would be measured as well.
const namePrefix = "file"

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

// byTop finds the entry of the table by its highest byte.
var byTop = func() (index [256]uint32) {
	for i, x := range castagnoliTable {
		index[x>>24] = uint32(i)
	}
	return index
}()

// fileOf returns the number with which a name ends, from its hash: four steps of the CRC backwards.
func fileOf(hash uint32) uint32 {
	for range 4 {
		i := byTop[hash>>24]
		hash = (hash^castagnoliTable[i])<<8 | i
	}
	return hash ^ prefixHash
}

var prefixHash = nameHash([]byte(namePrefix))

// nameHash is the hash of a name in a Btrfs directory, by Go's own CRC.
func nameHash(name []byte) uint32 {
	return ^crc32.Update(^uint32(0xfffffffe), castagnoliTable, name)
}

// file returns the file that an object belongs to.
func (g *generated) file(o change.Object) (i uint64, ok bool) {
	switch o.Kind {
	case g.itemKind:
		i, ok = uint64(fileOf(uint32(o.Sub))), true
	case g.indexKind:
		i, ok = (o.ID-firstDir)*g.perDir+o.Sub-2, o.Sub >= 2 && o.Sub-2 < g.perDir
	case g.extentKind:
		i, ok = (o.ID-firstExtent)/extentSize, true
	default:
		i, ok = o.ID-firstInode, o.ID >= firstInode
	}
	return i, ok && i < g.files && g.of(i, o.Kind) == o
}

func (g *generated) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	i, ok := g.file(o)
	if !ok {
		return change.Value{}, false, nil
	}
	return g.value(i, o.Kind, f), true, nil
}

func (g *generated) Values(o change.Object, fields []change.Field, values []change.Value) error {
	clear(values)
	if i, ok := g.file(o); ok {
		for n, f := range fields {
			values[n] = g.value(i, o.Kind, f)
		}
	}
	return nil
}

// value returns a field of the object of a kind that belongs to a file.
func (g *generated) value(i uint64, kind change.Kind, f change.Field) change.Value {
	switch f {
	case g.nameField:
		if i == misnamed && kind == g.indexKind {
			i++
		}
		return g.names[i]
	case g.nameLenField:
		return change.Num(uint64(len(g.txn.Names.Text(g.names[i]))))
	case g.locationField:
		return g.txn.Names.Key(firstInode+i, g.inodeKind, 0)
	case g.modeField, g.typField:
		return change.WordValue(1)
	default:
		return change.Num(1)
	}
}

func (g *generated) Exists(o change.Object) (bool, error) {
	if o.Kind == g.inodeKind && o.ID >= firstDir && o.ID <= g.dir(g.files-1) {
		return true, nil
	}
	_, ok := g.file(o)
	return ok, nil
}

// Scan handles the ranges that the benchmarked rules need: names of an inode, and all objects of an
// inode.
func (g *generated) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		i := lo.ID - firstInode
		if lo.ID < firstInode || i >= g.files {
			return
		}
		for _, k := range []change.Kind{g.inodeKind, g.refKind, g.dataKind} {
			if o := g.of(i, k); o.Compare(lo) >= 0 && o.Compare(hi) <= 0 && !yield(o, nil) {
				return
			}
		}
	}
}

// ScanDown is Scan in the reverse order.
func (g *generated) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		var up []change.Object
		for o, err := range g.Scan(lo, hi) {
			if err == nil { // Scan returns no errors
				up = append(up, o)
			}
		}
		for i := len(up) - 1; i >= 0 && yield(up[i], nil); i-- {
		}
	}
}

func (g *generated) neighbor(o change.Object, by uint64) (change.Object, bool, error) {
	i, ok := g.file(o)
	if i += by; !ok || i >= g.files {
		return change.Object{}, false, nil
	}
	return g.of(i, o.Kind), true, nil
}

func (g *generated) Previous(o change.Object) (change.Object, bool, error) {
	return g.neighbor(o, ^uint64(0))
}

func (g *generated) Next(o change.Object) (change.Object, bool, error) { return g.neighbor(o, 1) }
