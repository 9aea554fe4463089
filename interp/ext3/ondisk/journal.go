package ondisk

import "fmt"

// A Tag names the block of the file system of which a block of the journal is a copy.
type Tag struct {
	Block, High uint32
	Flags       uint16
	sum         uint32 // checksum; with csum_v2 its low 16 bits
}

// ParseTags reads the tags of a descriptor block, up to the last tag or the end of the block.
func (j *JournalSuper) ParseTags(b []byte) []Tag {
	var tags []Tag
	size := j.TagBytes()
	for off, end := JournalHeaderLen, len(b)-j.TailBytes(); off+size <= end; {
		head := tagHeadOf(b[off:])
		t := Tag{Block: head.Blocknr(), Flags: head.Flags()}
		switch {
		case j.CsumVersion == 3:
			wide := tag3Of(b[off:])
			t.High, t.sum = wide.BlocknrHigh(), wide.Checksum()
		case j.Wide:
			t.High = tag64Of(b[off:]).BlocknrHigh()
			fallthrough
		default:
			t.sum = uint32(tagSumOf(b[off:]).Checksum())
		}
		tags = append(tags, t)
		off += size
		if t.Flags&TagFlagSameUUID == 0 {
			off += 16
		}
		if t.Flags&TagFlagLast != 0 {
			break
		}
	}
	return tags
}

// ParseRevoke reads the block numbers of a revoke block.
func (j *JournalSuper) ParseRevoke(b []byte) ([]uint32, error) {
	end, width := RevokeHeadOf(b).Count(), 4
	if j.Wide {
		width = 8
	}
	if end < RevokeHeadLen || uint64(end) > uint64(len(b)-j.TailBytes()) {
		return nil, fmt.Errorf("a revoke block uses %d bytes of %d", end, len(b)-j.TailBytes())
	}
	var blocks []uint32
	for off := RevokeHeadLen; off+width <= int(end); off += width {
		if width == 8 && BE32(b, off) != 0 {
			continue // beyond any block of this file system
		}
		blocks = append(blocks, BE32(b, off+width-4))
	}
	return blocks, nil
}

// OfTransaction reports whether a block of the journal begins with the header of a block of the
// transaction seq.
func OfTransaction(b []byte, seq uint32) bool {
	h := JournalHeaderOf(b)
	return h.Magic() == JournalMagic && h.Sequence() == seq
}

// IsCommit reports whether a block is the commit block of the transaction seq.
func IsCommit(b []byte, seq uint32) bool {
	return OfTransaction(b, seq) && JournalHeaderOf(b).Blocktype() == TypeCommit
}
