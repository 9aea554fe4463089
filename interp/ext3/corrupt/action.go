package corrupt

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// The actions. An action changes more of an object than one member.
const (
	actDelete    = "delete"    // the object disappears
	actDuplicate = "duplicate" // the object occurs twice
	actAdd       = "add"       // add a dirent with another name, or a revoke record of the next block
	actSwap      = "swap"      // exchange with the next object of the kind
	actMove      = "move"      // move a dirent to another directory
	// move a directory below its own subdirectory, with all names and counts right
	actCycle     = "cycle"
	actClear     = "clear"     // all zeros
	actFree      = "free"      // no links, and a time of deletion
	actCopy      = "copy"      // copy the next object of the kind
	actCrossLink = "crosslink" // point to a block that another object points to
	actSet       = "set"       // set a bit
	actUnset     = "unset"
	actSetFreed  = "set_freed" // keep a bit set that the transaction clears
	actUnsetNew  = "unset_new"
)

// A draft holds the blocks that an alteration changes.
type draft struct {
	sites  map[site][]byte
	load   func(site) ([]byte, error)        // returns a copy of the contents of a site
	before func(block uint32) ([]byte, bool) // returns the contents of a block before the transaction
	ts     []target                          // all objects of the kind that is altered
	others func(object string) ([]target, error)
	layout *ext3.Layout
}

func (d *draft) bytes(p site) ([]byte, error) {
	if b, ok := d.sites[p]; ok {
		return b, nil
	}
	b, err := d.load(p)
	if err == nil {
		d.sites[p] = b
	}
	return b, err
}

// apply makes the change of a specification to the i-th target. ok is false if it is impossible
// there or changes nothing; then the draft is void.
func (d *draft) apply(s *alterSpec, i int) (text string, ok bool, err error) {
	t := d.ts[i]
	b, err := d.bytes(t.site)
	if err != nil {
		return "", false, err
	}
	if s.action == "" {
		text, ok = s.set(b[t.off : t.off+t.n])
	} else {
		text, ok, err = d.act(s.action, i, b)
	}
	return t.name() + ": " + text, ok, err
}

func (d *draft) act(action string, i int, b []byte) (string, bool, error) {
	t := d.ts[i]
	switch t.object.name {
	case objBlockBitmap, objInodeBitmap:
		return action, d.flip(action, t, b), nil
	case objDirent:
		return d.actDirent(action, i, b)
	case objInode:
		return d.actInode(action, i, b)
	}
	o := b[t.off : t.off+t.n]
	next, hasNext := d.next(i)
	switch {
	case action == actSwap && !hasNext, action == actDuplicate && t.object.name == objTag && !hasNext:
		return "", false, nil
	case t.object.name == objXattrEntry:
		return action, actXattrEntry(action, b[:d.xattrEnd(t, len(b))], t, next), nil
	case t.object.name == objIndexEntry:
		return action, actIndexEntry(action, b, t, next), nil
	case t.object.name == objRevoked:
		return action, actRevoked(action, b, t), nil
	case action == actSwap && t.object.name == objTag:
		swap(b, t.off, next.off, 4)
		return "its block changed places with the next", true, nil
	case action == actDuplicate:
		copy(o[:4], b[next.off:])
		return "it is of the next one's block", true, nil
	case action == actSwap:
		before := string(o)
		swap(b, t.off, next.off, t.n)
		return "exchanged with the next", string(o) != before, nil
	case action == actCrossLink && hasNext && ondisk.LE32(b, next.off) != 0: // a pointer
		old := ondisk.LE32(o, 0)
		copy(o, b[next.off:next.off+t.n])
		return fmt.Sprintf("block %d → %d, the next one's", old, ondisk.LE32(o, 0)), old != ondisk.LE32(o,
			0), nil
	}
	return "", false, nil
}

// next returns the next object of the kind in the same block.
func (d *draft) next(i int) (target, bool) {
	if i+1 < len(d.ts) && d.ts[i+1].site == d.ts[i].site {
		return d.ts[i+1], true
	}
	return target{}, false
}

// swap exchanges n bytes at two places that do not overlap.
func swap(b []byte, x, y, n int) {
	for k := range n {
		b[x+k], b[y+k] = b[y+k], b[x+k]
	}
}

func (d *draft) flip(action string, t target, b []byte) bool {
	set := b[t.off]>>t.bit&1 != 0
	switch action {
	case actSet:
		if set {
			return false
		}
	case actUnset:
		if !set {
			return false
		}
	default:
		old, known := d.before(t.site.block)
		if want := action == actUnsetNew; !known || set != want || old[t.off]>>t.bit&1 != 0 == want {
			return false
		}
	}
	b[t.off] ^= 1 << t.bit
	return true
}

func (d *draft) actInode(action string, i int, b []byte) (string, bool, error) {
	t := d.ts[i]
	raw := b[t.off : t.off+t.n]
	switch action {
	case actClear:
		clear(raw)
		return "all zeros", t.kind != "free", nil
	case actFree:
		binary.LittleEndian.PutUint16(raw[ondisk.InodeLinksCountAt:], 0)
		copy(raw[ondisk.InodeDtimeAt:ondisk.InodeDtimeAt+4],
			raw[ondisk.InodeCtimeAt:ondisk.InodeCtimeAt+4])
		return "no links, and deleted when it was last changed", t.kind != "free" && t.kind != "orphan",
			nil
	case actCrossLink:
		return d.crossLink(t, raw)
	}
	next, ok := d.next(i)
	if !ok || t.kind == "free" || next.kind == "free" {
		return "", false, nil
	}
	if action == actCopy {
		copy(raw, b[next.off:next.off+next.n])
		return fmt.Sprintf("a copy of inode %d", next.id), true, nil
	}
	swap(b, t.off, next.off, t.n)
	return fmt.Sprintf("exchanged with inode %d", next.id), true, nil
}

// crossLink makes the first block of a file that of another.
func (d *draft) crossLink(t target, raw []byte) (string, bool, error) {
	mine := ondisk.Inode(raw[:ondisk.InodeLen])
	if !mine.Maps(true) || mine.Pointer(0) == 0 {
		return "", false, nil
	}
	for _, o := range d.ts {
		b, err := d.load(o.site)
		if err != nil {
			return "", false, err
		}
		other := ondisk.Inode(b[o.off : o.off+ondisk.InodeLen])
		if p := other.Pointer(0); o.id != t.id && other.Links() > 0 && other.Maps(true) && p != 0 &&
			p != mine.Pointer(0) {
			copy(raw[ondisk.InodeBlock0At:ondisk.InodeBlock0At+4], other[ondisk.InodeBlock0At:])
			return fmt.Sprintf("block0 → %d, that of inode %d", p, o.id), true, nil
		}
	}
	return "", false, nil
}

// xattrEnd returns where the room for a list of extended attributes ends.
func (d *draft) xattrEnd(t target, blockSize int) int {
	if t.kind == "block" {
		return blockSize
	}
	size := int(d.layout.Geo.InodeSize)
	return (t.off/size + 1) * size
}

func actXattrEntry(action string, b []byte, t, next target) bool {
	end := t.off // end of the last entry
	for end+4 <= len(b) && ondisk.LE32(b, end) != 0 {
		end += ondisk.XattrEntryLen + (int(b[end])+3)&^3
	}
	if end+4 > len(b) {
		return false
	}
	entry := string(b[t.off : t.off+t.n])
	switch action {
	case actDelete:
		copy(b[t.off:], b[t.off+t.n:end])
		clear(b[end-t.n : end])
		return true
	case actDuplicate:
		if end+4+t.n > len(b) || bytes.Count(b[end:end+4+t.n], []byte{0}) < 4+t.n {
			return false
		}
		copy(b[t.off+t.n:end+t.n], b[t.off:end])
		return true
	default:
		if next.off != t.off+t.n {
			return false
		}
		copy(b[t.off:], b[next.off:next.off+next.n])
		copy(b[t.off+next.n:], entry)
		return true
	}
}

func actIndexEntry(action string, b []byte, t, next target) bool {
	at := ondisk.IndexRootEntries
	if t.kind == "node" {
		at = ondisk.IndexNodeEntries
	}
	if t.off == at { // the first has the limit and the count where others have a hash
		return false
	}
	head := ondisk.IndexHeadOf(b[at-ondisk.IndexInfoLen:])
	count, limit := int(head.Count()), int(head.Limit())
	end := at + count*ondisk.IndexEntryLen
	switch {
	case end > len(b) || end < t.off+ondisk.IndexEntryLen:
		return false
	case action == actSwap:
		swap(b, t.off, next.off, ondisk.IndexEntryLen)
		return true
	case action == actDelete:
		copy(b[t.off:], b[t.off+ondisk.IndexEntryLen:end])
		count--
	case count < limit && end+ondisk.IndexEntryLen <= len(b):
		copy(b[t.off+ondisk.IndexEntryLen:], b[t.off:end])
		count++
	default:
		return false
	}
	head.SetCount(uint16(count))
	return true
}

func actRevoked(action string, b []byte, t target) bool {
	head := ondisk.RevokeHeadOf(b)
	used := int(head.Count())
	switch {
	case used > len(b)-8 || used < t.off+4: // the last four bytes may be a checksum
		return false
	case action == actDelete:
		copy(b[t.off:], b[t.off+4:used])
		used -= 4
	default:
		binary.BigEndian.PutUint32(b[used:], ondisk.BE32(b, t.off)+1)
		used += 4
	}
	head.SetCount(uint32(used))
	return true
}
