package ext3

import (
	"bytes"
	"encoding/binary"
	"io"
)

// A logBlock is a block of the log that is not a copy: a descriptor, a revoke block or a commit block.
type logBlock struct {
	at, seq uint32 // counted in the journal; of the transaction
	kind    uint32
	tags    []logTag // of a descriptor
	used    int      // of a revoke block: where its records end, and how long one is
	width   int
}

// A logTag is a tag with its place in the descriptor and that of its copy in the journal.
type logTag struct {
	tag
	off int
	at  uint32
}

// logTags reads the tags of a descriptor that stands at a block of the journal.
func (j *journal) logTags(b []byte, at uint32) (list []logTag) {
	off := journalHeader
	for _, t := range j.parseTags(b) {
		at = j.next(at)
		list = append(list, logTag{t, off, at})
		if off += j.tagBytes(); t.flags&tagFlagSameUUID == 0 {
			off += 16
		}
	}
	return list
}

// logBlocks reads what a transaction, which is whole, has besides copies.
func (j *journal) logBlocks(dev io.ReaderAt, start, seq uint32) (list []logBlock, err error) {
	for at := start; ; at = j.next(at) {
		b, err := readBlock(dev, j.geo, j.block(at))
		if err != nil {
			return nil, err
		}
		l := logBlock{at: at, seq: seq, kind: be32(b, 4), width: 4}
		switch l.kind {
		case typeDescriptor:
			l.tags = j.logTags(b, at)
			if len(l.tags) > 0 {
				at = l.tags[len(l.tags)-1].at
			}
		case typeRevoke:
			l.used = int(min(be32(b, journalHeader), uint32(len(b)-j.tailBytes())))
			if j.wide {
				l.width = 8
			}
		}
		if list = append(list, l); l.kind == typeCommit || len(list) > int(j.maxLen) {
			return list, nil
		}
	}
}

// seal makes the checksums of a transaction right again; block returns a block of the journal to be changed in place.
// What says where checksums stand is log, the transaction as it was before it was altered.
func (j *journal) seal(log []logBlock, block func(at uint32) ([]byte, error)) error {
	sum := crcBEStart
	for _, l := range log {
		b, err := block(l.at)
		if err != nil {
			return err
		}
		for _, t := range l.tags {
			data, err := block(t.at)
			if err != nil {
				return err
			}
			j.sealTag(b, t, l.seq, data)
		}
		switch l.kind {
		case typeDescriptor, typeRevoke:
			j.sealTail(b)
		case typeCommit:
			j.sealCommit(b, sum)
		}
		if l.kind != typeDescriptor {
			continue
		}
		sum = j.addBE(sum, b)
		for _, t := range l.tags {
			data, err := block(t.at)
			if err != nil {
				return err
			}
			sum = j.addBE(sum, data)
		}
	}
	return nil
}

// sealTag puts the checksum of a copy into its tag (jbd2_block_tag_csum_set).
func (j *journalSuper) sealTag(descriptor []byte, t logTag, seq uint32, data []byte) {
	sum := crc32c(crc32c(j.seed, binary.BigEndian.AppendUint32(nil, seq)), data)
	switch j.csum {
	case 2:
		binary.BigEndian.PutUint16(descriptor[t.off+4:], uint16(sum))
	case 3:
		binary.BigEndian.PutUint32(descriptor[t.off+12:], sum)
	}
}

// sealTail puts the checksum at the end of a descriptor or revoke block (jbd2_descriptor_block_csum_set).
func (j *journalSuper) sealTail(b []byte) {
	if j.csum != 0 {
		binary.BigEndian.PutUint32(b[len(b)-4:], j.withZeros(b, len(b)-4))
	}
}

// sealCommit puts the checksum into a commit block: with version 1 that of the transaction, where it has one.
func (j *journalSuper) sealCommit(b []byte, sum uint32) {
	switch {
	case j.csum != 0:
		binary.BigEndian.PutUint32(b[commitSum:], j.withZeros(b, commitSum))
	case j.checksum && b[commitSumType] == sumCRC32:
		binary.BigEndian.PutUint32(b[commitSum:], sum)
	}
}

// sealSuper puts the checksum into the journal's superblock (jbd2_superblock_csum_set).
func (j *journalSuper) sealSuper(b []byte) {
	if j.csum != 0 {
		sb := bytes.Clone(b[:jSuperLen])
		clear(sb[jSum : jSum+4])
		binary.BigEndian.PutUint32(b[jSum:], crc32c(^uint32(0), sb))
	}
}
