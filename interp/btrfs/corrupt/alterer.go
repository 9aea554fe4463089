package corrupt

import (
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

// alterer changes one object in the blocks that pass through it.
type alterer struct {
	disk  interp.Disk
	spec  alterSpec
	state *btrfs.Metadata // of the superblock on disk; nil: read it again

	chosen     bool   // an object was changed; it is
	tree       uint64 // of an item
	key        ondisk.Key
	logical    uint64 // of the block of a header or pointer
	slot       int
	generation uint64 // of the transaction
	over       bool   // which has been committed, or refused
}

// NewAlterer makes an alterer; SpecHelp says what spec may be. The disk need not hold a file system
// yet. The first object that fits in a transaction is the one. An error lists what there is.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return nil, err
	}
	return &alterer{disk: d, spec: s}, nil
}

// Alter changes the object in each block of its transaction that w holds whole.
func (a *alterer) Alter(w interp.Write) string {
	if w.Data == nil || a.over {
		return ""
	}
	if _, off := interp.Locate(w.Off); off < ondisk.SuperOffset+ondisk.SuperSize && ondisk.SuperOffset < off+w.Len {
		text := a.alterSuper(w, off)
		a.state = nil // what is on disk is another one after this write
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

// alterSuper changes the primary superblock in a write at an offset of its disk; the mirrors stay.
func (a *alterer) alterSuper(w interp.Write, off uint64) string {
	if a.spec.object.form != formSuper || off > ondisk.SuperOffset || off+w.Len < ondisk.SuperOffset+ondisk.SuperSize {
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

// alterSuper changes the bytes of a superblock.
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

// block returns the block at a device address if it is one that the guest writes for its next
// commit. Those of the log are not, unless the alteration asks for their tree.
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
	if err != nil || n.Owner() == ondisk.TreeLogID && !a.spec.inLog() || n.Generation() <= a.state.Superblock().Generation() ||
		a.chosen && n.Generation() != a.generation {
		return nil
	}
	return n
}

// alterBlock changes the object in a block, and says how, or returns "".
func (a *alterer) alterBlock(n *ondisk.Node) string {
	for slot := range a.spec.slots(n) {
		if a.chosen && !a.same(n, slot) || !a.chosen && !a.spec.fits(n, slot) {
			continue
		}
		place := a.spec.place(n, slot)
		chosen := *a
		chosen.chosen, chosen.tree, chosen.logical, chosen.slot, chosen.generation = true, n.Owner(), n.Logical(), slot, n.Generation()
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

// same reports whether a place holds the object that was changed before.
func (a *alterer) same(n *ondisk.Node, slot int) bool {
	if a.spec.object.form == formItem {
		return n.Owner() == a.tree && n.Key(slot) == a.key
	}
	return n.Logical() == a.logical && slot == a.slot
}
