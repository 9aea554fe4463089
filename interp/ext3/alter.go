package ext3

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"fsward/interp"
)

// An edit is a change of one field: its value after from its value before.
type edit struct {
	text   string // the specification
	object string
	column column
	op     byte // + - = ^
	n      uint64
}

// alterable lists the structures that an edit can be of and their fields.
var alterable = []struct {
	name    string
	columns []column
}{
	{"superblock", superColumns},
	{"group", groupColumns},
	{"inode", inodeColumns},
	{"dirent", direntColumns},
	{"xattr_block", xattrColumns},
	{"block_bitmap", []column{{name: "bit"}}},
	{"inode_bitmap", []column{{name: "bit"}}},
}

// known lists every object and field, for error messages.
func known() string {
	var all []string
	for _, s := range alterable {
		for _, c := range s.columns {
			all = append(all, s.name+"."+c.name)
		}
	}
	return strings.Join(all, ", ")
}

// parseEdit reads "inode.links_count+1", "group.free_blocks_count=0", "block_bitmap.bit^1".
func parseEdit(spec string) (edit, error) {
	bad := func(why string) (edit, error) {
		return edit{}, fmt.Errorf("%s in %q; want OBJECT.FIELD and one of +N -N =N ^N, where OBJECT.FIELD is one of %s", why, spec, known())
	}
	at := strings.IndexAny(spec, "+-=^")
	if at < 0 {
		return bad("no operation")
	}
	object, field, _ := strings.Cut(spec[:at], ".")
	n, err := strconv.ParseUint(spec[at+1:], 0, 32)
	if err != nil {
		return bad("no number after the operation")
	}
	for _, s := range alterable {
		for _, c := range s.columns {
			if s.name == object && c.name == field {
				return edit{text: spec, object: object, column: c, op: spec[at], n: n}, nil
			}
		}
	}
	return bad("no such field")
}

func (e edit) value(old uint64) uint64 {
	switch e.op {
	case '+':
		return old + e.n
	case '-':
		return old - e.n
	case '^':
		return old ^ e.n
	default:
		return e.n
	}
}

// apply changes the field in a structure's bytes and describes it, "" if the value stays the same.
func (e edit) apply(b []byte, what string) string {
	old := e.column.get(b)
	e.column.put(b, e.value(old))
	if now := e.column.get(b); now != old {
		return fmt.Sprintf("%s: %s %d → %d", what, e.column.name, old, now)
	}
	return ""
}

// An alterer changes a field in a block on its way into the journal. What a journal block is a copy of,
// the descriptor before it says, which arrives before it or with it.
type alterer struct {
	edit    edit
	disk    interp.Disk
	layout  *layout
	journal journal
	seq     uint32         // the lowest transaction that may be altered
	homes   map[uint32]tag // by block of the journal, of the running transaction
	done    bool
}

// NewAlterer returns an Alterer for an ext3 file system. spec is OBJECT.FIELD, an operation + - = or ^,
// and a number, such as "inode.links_count+1"; an error about it lists the fields. Of several objects in
// a block, the first one that the transaction changes is altered; of inodes, one in use, and for a pointer
// a file that has it. In a bitmap, "bit^1" and "bit=0" clear the first bit that the transaction sets,
// "bit=1" sets the first that it clears; of the bits from N on that it leaves alone, "bit+N" sets the
// first that is clear, and "bit-N" clears the first that is set.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	e, err := parseEdit(spec)
	if err != nil {
		return nil, err
	}
	m, err := mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	if m.journal.checksum || m.journal.csum != 0 {
		return nil, &interp.UnsupportedError{FS: schema.FS, Feature: "altering what a journal with checksums holds"}
	}
	return &alterer{edit: e, disk: d, layout: m.layout, journal: m.journal, seq: m.seq, homes: make(map[uint32]tag)}, nil
}

// Alter changes the write if the field is in it.
func (a *alterer) Alter(w interp.Write) string {
	if a.done || w.Data == nil {
		return ""
	}
	bs := uint64(a.layout.geo.blockSize)
	var blocks []uint32 // of the journal, that the write has as a whole
	for _, r := range a.journal.runs {
		lo := max((w.Off+bs-1)/bs, uint64(r.block))
		hi := min((w.Off+w.Len)/bs, uint64(r.block)+uint64(r.n))
		for b := lo; b < hi; b++ {
			blocks = append(blocks, uint32(b))
		}
	}
	at := func(block uint32) []byte { return w.Data[uint64(block)*bs-w.Off:][:bs] }
	for _, block := range blocks {
		a.follow(block, at(block))
	}
	for _, block := range blocks {
		t, ok := a.homes[block]
		if !ok || t.flags&tagFlagEscape != 0 {
			continue
		}
		if what := a.alter(t.block, at(block)); what != "" {
			a.done = true
			return what
		}
	}
	return ""
}

// follow learns from descriptors which blocks come after them, and forgets at a commit.
func (a *alterer) follow(block uint32, b []byte) {
	if be32(b, 0) != journalMagic || int32(be32(b, 8)-a.seq) < 0 {
		return
	}
	switch be32(b, 4) {
	case typeDescriptor:
		at, ok := a.journal.logical(block)
		if !ok {
			return
		}
		for _, t := range a.journal.parseTags(b) {
			at = a.journal.next(at)
			a.homes[a.journal.block(at)] = t
		}
	case typeCommit:
		a.seq = be32(b, 8) + 1
		clear(a.homes)
	}
}

// alter changes the copy of a block if it has the field.
func (a *alterer) alter(home uint32, b []byte) string {
	geo := a.layout.geo
	if !geo.inRange(home) {
		return ""
	}
	before, err := readBlock(a.disk, geo, home)
	if err != nil {
		return ""
	}
	g := geo.groupOf(home)
	p := a.layout.places[g]
	desc, isDesc := geo.descIndex(home)
	switch {
	case home == geo.superBlock():
		if a.edit.object == "superblock" {
			return a.edit.apply(b[superOff%geo.blockSize:], "superblock")
		}
	case isDesc:
		return a.each("group", b, before, descLen, descLen, desc*geo.perDescBlock(), func([]byte) bool { return true })
	case home == p.blockBitmap:
		return a.flip("block_bitmap", b, before, geo.groupBlocks(g), geo.groupStart(g))
	case home == p.inodeBitmap:
		return a.flip("inode_bitmap", b, before, geo.inodesPerGroup, g*geo.inodesPerGroup+1)
	case home-p.inodeTable < geo.tableBlocks:
		first := g*geo.inodesPerGroup + (home-p.inodeTable)*(geo.blockSize/geo.inodeSize) + 1
		return a.each("inode", b, before, int(geo.inodeSize), inodeLen, first, func(i []byte) bool { return a.wanted(inode(i)) })
	case le32(b, 0) == xattrMagic:
		if a.edit.object == "xattr_block" {
			return a.edit.apply(b, fmt.Sprintf("xattr_block %d", home))
		}
	case a.edit.object == "dirent":
		return a.entry(home, b, before)
	}
	return ""
}

// wanted tells whether an inode is one to be altered: in use, and where a pointer is to be altered, one
// that has it.
func (a *alterer) wanted(i inode) bool {
	if i.links() == 0 {
		return false
	}
	pointer := a.edit.column.off >= iBlock && a.edit.column.off < iBlock+4*nPointers
	return !pointer || i.typ() == modeRegular && a.edit.column.get(i) != 0
}

// each alters the first structure in a block that the transaction changes and that is wanted.
func (a *alterer) each(object string, b, before []byte, step, n int, first uint32, wanted func([]byte) bool) string {
	if a.edit.object != object {
		return ""
	}
	for k := 0; k*step+n <= len(b); k++ {
		s := b[k*step : k*step+n]
		if bytes.Equal(s, before[k*step:k*step+n]) || !wanted(s) {
			continue
		}
		if what := a.edit.apply(s, fmt.Sprintf("%s %d", object, first+uint32(k))); what != "" {
			return what
		}
	}
	return ""
}

// flip alters one bit: see NewAlterer for which.
func (a *alterer) flip(object string, b, before []byte, count, first uint32) string {
	if a.edit.object != object {
		return ""
	}
	for n := range count {
		was, is := bit(before, n), bit(b, n)
		var wanted bool
		switch a.edit.op {
		case '+':
			wanted = !was && !is && uint64(n) >= a.edit.n
		case '-':
			wanted = was && is && uint64(n) >= a.edit.n
		case '=':
			wanted = was != is && is == (a.edit.n == 0)
		default:
			wanted = !was && is
		}
		if wanted {
			b[n/8] ^= 1 << (n % 8)
			return fmt.Sprintf("%s: bit of %d %d → %d", object, first+n, btoi(is), btoi(!is))
		}
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// entry alters the first entry of a directory block that the transaction brings and that is not . or ..
func (a *alterer) entry(home uint32, b, before []byte) string {
	if !looksLikeDirectory(b, a.layout.geo.fileType) {
		return ""
	}
	had := make(map[string]bool)
	if looksLikeDirectory(before, a.layout.geo.fileType) {
		entries(before, a.layout.geo.fileType, func(e entry) { had[string(e.name)] = true })
	}
	what := ""
	entries(b, a.layout.geo.fileType, func(e entry) {
		if what == "" && !had[string(e.name)] && string(e.name) != "." && string(e.name) != ".." {
			what = a.edit.apply(b[e.off:], fmt.Sprintf("dirent %q in block %d", e.name, home))
		}
	})
	return what
}

// looksLikeDirectory tells a directory block from file data in the journal, as far as bytes can tell.
func looksLikeDirectory(b []byte, fileType bool) bool {
	n := 0
	_, fault := entries(b, fileType, func(entry) { n++ })
	return fault == "" && n > 0
}

var _ interp.Alterer = (*alterer)(nil)
