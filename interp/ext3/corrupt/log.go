package corrupt

import (
	"io"

	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// A logBlock is a block of the log that is not a copy: a descriptor, a revoke block or a commit
// block.
type logBlock struct {
	at, seq uint32 // counted in the journal; of the transaction
	kind    uint32
	tags    []logTag // of a descriptor
	used    int      // of a revoke block: where its records end, and their size, bytes
	width   int
}

// A logTag is a tag, its offset in the descriptor, and the place of its copy in the journal.
type logTag struct {
	ondisk.Tag
	off int
	at  uint32
}

// logTags reads the tags of the descriptor in a block of the journal.
func logTags(j *ext3.Journal, b []byte, at uint32) (list []logTag) {
	off := ondisk.JournalHeaderLen
	for _, t := range j.ParseTags(b) {
		at = j.Next(at)
		list = append(list, logTag{t, off, at})
		if off += j.TagBytes(); t.Flags&ondisk.TagFlagSameUUID == 0 {
			off += 16
		}
	}
	return list
}

// logBlocks reads the blocks of a whole transaction that are not copies.
func logBlocks(j *ext3.Journal, dev io.ReaderAt, e ext3.LogEntry) (list []logBlock, err error) {
	for at := e.Start; ; at = j.Next(at) {
		b, err := ext3.ReadBlock(dev, j.Geo, j.Block(at))
		if err != nil {
			return nil, err
		}
		l := logBlock{at: at, seq: e.Seq, kind: ondisk.JournalHeaderOf(b).Blocktype(), width: 4}
		switch l.kind {
		case ondisk.TypeDescriptor:
			l.tags = logTags(j, b, at)
			if len(l.tags) > 0 {
				at = l.tags[len(l.tags)-1].at
			}
		case ondisk.TypeRevoke:
			l.used = int(min(ondisk.RevokeHeadOf(b).Count(), uint32(len(b)-j.TailBytes())))
			if j.Wide {
				l.width = 8
			}
		}
		if list = append(list, l); l.kind == ondisk.TypeCommit || len(list) > int(j.MaxLen) {
			return list, nil
		}
	}
}

// seal updates the checksums of a transaction. block returns a block of the journal, to be changed
// in place. log is the transaction before the alteration. It has the places of the checksums.
func seal(j *ext3.Journal, log []logBlock, block func(at uint32) ([]byte, error)) error {
	sum := ondisk.CrcBEStart
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
			j.SealTag(b, t.off, l.seq, data)
		}
		switch l.kind {
		case ondisk.TypeDescriptor, ondisk.TypeRevoke:
			j.SealTail(b)
		case ondisk.TypeCommit:
			j.SealCommit(b, sum)
		}
		if l.kind != ondisk.TypeDescriptor {
			continue
		}
		sum = j.AddBE(sum, b)
		for _, t := range l.tags {
			data, err := block(t.at)
			if err != nil {
				return err
			}
			sum = j.AddBE(sum, data)
		}
	}
	return nil
}
