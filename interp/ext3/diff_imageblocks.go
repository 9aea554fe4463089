package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// maxClaims bounds the runs that wait for their records.
const maxClaims = 256

// claimMost makes the records of the runs so far, if they are many. It keeps the last, which the
// next pointer may continue.
func (d *imageDiff) claimMost() error {
	runs := d.blocks.runs[named]
	if len(runs) < maxClaims {
		return nil
	}
	last := runs[len(runs)-1]
	d.blocks.runs[named] = runs[:len(runs)-1]
	err := d.claimRuns()
	d.blocks.add(last)
	return err
}

// claimRuns makes the records of the runs of pointers so far, and of the blocks that they are the
// first to name.
func (d *imageDiff) claimRuns() error {
	runs := d.blocks.runs[named]
	d.blocks.runs[named] = runs[:0]
	for _, r := range runs {
		from, uses := uint64(r.first), blockUse{}
		for b := from; b < r.end(); b++ {
			use, err := d.claim(uint32(b))
			if err != nil {
				return err
			}
			if b > from && (use != uses || use.alone) {
				if err := d.claimed(r.part(from, b), uses); err != nil {
					return err
				}
				from = b
			}
			uses = use
		}
		if err := d.claimed(r.part(from, r.end()), uses); err != nil {
			return err
		}
	}
	return nil
}

// A blockUse holds the properties that the blocks of a run share, so that one record covers them.
type blockUse struct {
	records bool   // the bitmap marks the block, and no earlier pointer made its records
	group   uint32 // of a block with records
	alone   bool   // several pointers name the block
}

// claim notes that a pointer names a block.
func (d *imageDiff) claim(block uint32) (use blockUse, err error) {
	first := d.pointed.add(block)
	if attr := d.attrs.has(block); !first || attr {
		d.disputed.add(block)
		first = first && !attr
	}
	use.alone = d.alone.has(block)
	if first {
		if use.records, err = d.new.allocated(block); use.records {
			use.group = d.Geo.GroupOf(block)
		}
	}
	return use, err
}

// claimed makes the records of pointers to blocks, and of the blocks.
func (d *imageDiff) claimed(r blockRun, use blockUse) error {
	d.runRecords(r)
	if use.records {
		d.runRecords(blockRun{first: r.first, n: r.n, of: use.group, how: marked})
	}
	return d.tooMany()
}

// claimXattr is claim for an extended attribute block, which inodes may share.
func (d *imageDiff) claimXattr(block, ino uint32) error {
	if !d.Geo.InRange(block) {
		return nil // this fault has been reported
	}
	d.txn.Add(change.Object{Kind: ondisk.KindXattrOwner, ID: uint64(block), Sub: uint64(ino)})
	if !d.again {
		d.sharers = append(d.sharers, sharer{block, ino})
	}
	first := d.attrs.add(block)
	if d.pointed.has(block) {
		d.disputed.add(block)
		return nil
	}
	if !first {
		return nil
	}
	used, err := d.new.allocated(block)
	if err == nil && used {
		d.runRecords(blockRun{first: block, n: 1, of: d.Geo.GroupOf(block), how: marked})
	}
	return err
}

// unowned makes the records of the blocks of a group that are marked as used and that no pointer
// names.
func (d *imageDiff) unowned(g uint32) error {
	start, size := d.Geo.GroupStart(g), d.Geo.GroupBlocks(g)
	bitmap, err := d.new.Block(d.Places[g].BlockBitmap)
	if err != nil {
		return err
	}
	run := blockRun{of: g, how: marked}
	for at := uint32(0); at < size; at++ {
		if at%64 == 0 && bitsFrom(bitmap, at) == 0 {
			at += 63
			continue
		}
		block := start + at
		if !ondisk.Bit(bitmap, at) || d.pointed.has(block) || d.attrs.has(block) {
			continue
		}
		if run.end() != uint64(block) {
			if err := d.leftOver(run); err != nil {
				return err
			}
			run.first, run.n = block, 0
		}
		run.n++
	}
	return d.leftOver(run)
}

// leftOver makes the records of a run of blocks without pointers. The run may be empty.
func (d *imageDiff) leftOver(run blockRun) error {
	if run.n > 0 {
		d.runRecords(run)
	}
	return d.tooMany()
}
