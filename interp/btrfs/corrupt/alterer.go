package corrupt

import (
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// An alterer alters one object in the blocks that pass through it.
type alterer struct {
	disk  interp.Disk
	spec  alterSpec
	state *btrfs.Metadata // of the superblock on disk; nil: read it again

	chosen     bool   // an object was altered, and the members below identify it
	tree       uint64 // of an item
	key        ondisk.Key
	logical    uint64 // of the block of a header or pointer
	slot       int
	generation uint64 // of its transaction
	over       bool   // the transaction was committed or refused
}

// NewAlterer returns an alterer for a specification; SpecHelp describes the grammar. The disk need
// not hold a file system yet. The alterer chooses the first object of a transaction that fits. The
// error for an unknown object or field lists the known ones.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return nil, err
	}
	return &alterer{disk: d, spec: s}, nil
}

// Alter alters the object in each block of its transaction, in place in the data of a write. It
// returns a description of the change, or "". The write must hold the whole block.
func (a *alterer) Alter(w interp.Write) string {
	if w.Data == nil || a.over {
		return ""
	}
	const superEnd = ondisk.SuperOffset + ondisk.SuperSize
	if _, off := interp.Locate(w.Off); off < superEnd && ondisk.SuperOffset < off+w.Len {
		text := a.alterSuper(w, off)
		a.state = nil // this write changes the superblock on disk
		a.over = a.chosen
		return text
	}
	if a.state == nil {
		m, err := btrfs.OpenMetadata(a.disk)
		if err != nil {
			return "" // no file system yet
		}
		a.state = m
	}
	text := ""
	sb := a.state.Superblock()
	step, size := uint64(sb.SectorSize()), uint64(sb.NodeSize())
	for at := (step - w.Off%step) % step; at+size <= uint64(len(w.Data)); at += step {
		block := w.Data[at : at+size : at+size]
		n := a.block(block, w.Off+at)
		if n == nil {
			continue
		}
		if t := a.alterBlock(n); t != "" {
			sb.CsumType().Seal(block)
			text = t
		}
	}
	return text
}

// alterSuper alters the primary superblock in a write at an offset of its disk. It does not alter
// mirrors.
func (a *alterer) alterSuper(w interp.Write, off uint64) string {
	whole := off <= ondisk.SuperOffset && off+w.Len >= ondisk.SuperOffset+ondisk.SuperSize
	if a.spec.object.form != formSuper || !whole {
		return ""
	}
	at := ondisk.SuperOffset - off
	text, ok := a.spec.alterSuper(w.Data[at : at+ondisk.SuperSize : at+ondisk.SuperSize])
	if !ok {
		return ""
	}
	a.chosen = true
	return text
}

// alterSuper alters the bytes of a superblock and recomputes the checksum. ok is false if it is no
// superblock, does not meet the conditions, or stays the same.
func (s *alterSpec) alterSuper(block []byte) (text string, ok bool) {
	csum := ondisk.NewSuperblock((*[ondisk.SuperSize]byte)(block)).CsumType()
	if number(block[ondisk.SuperMagicAt:][:8]) != ondisk.SuperMagic || csum >= ondisk.CsumTypes {
		return "", false
	}
	for _, c := range s.where {
		if c.tree || c.level || number(block[c.m.off:][:c.m.width]) != c.value {
			return "", false
		}
	}
	if text, ok = s.set(block[s.member.off:][:s.member.width]); ok {
		csum.Seal(block)
	}
	return "superblock: " + text, ok
}

// block returns a view on a block that the guest writes to a device address, or nil if the block is
// not to be altered. It must belong to the next commit, and to the chosen transaction if there is
// one. Blocks of the log are altered only if a condition names their tree.
func (a *alterer) block(block []byte, addr uint64) *ondisk.Node {
	if [16]byte(block[ondisk.HeaderFSIDAt:]) != a.state.Superblock().MetadataUUID() {
		return nil
	}
	logical := binary.LittleEndian.Uint64(block[ondisk.HeaderBytenrAt:])
	copies, err := a.state.Copies(logical)
	if err != nil || !slices.Contains(copies, addr) {
		return nil
	}
	n, err := a.state.Check(block, addr, logical)
	switch {
	case err != nil,
		n.Owner() == ondisk.TreeLogID && !a.spec.inLog(),
		n.Generation() <= a.state.Superblock().Generation(),
		a.chosen && n.Generation() != a.generation:
		return nil
	}
	return n
}

// alterBlock alters the object in a block. It returns a description of the change, or "".
func (a *alterer) alterBlock(n *ondisk.Node) string {
	for slot := range a.spec.slots(n) {
		if a.chosen && !a.same(n, slot) || !a.chosen && !a.spec.fits(n, slot) {
			continue
		}
		place := a.spec.place(n, slot)
		chosen := *a
		chosen.chosen, chosen.slot = true, slot
		chosen.tree, chosen.logical, chosen.generation = n.Owner(), n.Logical(), n.Generation()
		if a.spec.object.form == formItem {
			chosen.key = n.Key(slot)
		}
		text, ok := a.spec.alter(n, slot)
		if !ok {
			continue
		}
		*a = chosen
		return fmt.Sprintf("%s: %s", place, text)
	}
	return ""
}

// same reports whether a slot holds the chosen object.
func (a *alterer) same(n *ondisk.Node, slot int) bool {
	if a.spec.object.form == formItem {
		return n.Owner() == a.tree && n.Key(slot) == a.key
	}
	return n.Logical() == a.logical && slot == a.slot
}
