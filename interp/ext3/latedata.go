package ext3

import (
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A lateRun is data that was not written before the commit that made it reachable. Linux allows
// this when a file is cut. ext4_setattr (truncate) writes the data of the transaction that is being
// committed, and then starts a handle. If the transaction begins to commit in between, its data is
// dropped from the cache before jbd2 writes it. Since Linux 6.14, ext4_punch_hole drops data in
// such a way too. Truncation cuts the file in the transaction that follows, and a hole is punched
// there or, if its thread waits long, in a later one. So the blocks leave the file soon, or their
// data comes: if neither happens, the file shows what the blocks held before.
type lateRun struct {
	dataRun
	seq   uint32 // transaction that made it reachable
	later int    // commits that came after it
}

const (
	// lateCommits is the number of commits after which late data must have come or left its file. The
	// sets of a dataOrder hold what was written since.
	lateCommits = 2
	// maxLate bounds the runs that are kept. Runs beyond it are not checked.
	maxLate = 1 << 16
)

// addLate adds the runs that a transaction makes reachable without their data.
func addLate(late []lateRun, unwritten []dataRun, seq uint32) []lateRun {
	for _, r := range unwritten[:min(len(unwritten), maxLate-len(late))] {
		late = append(late, lateRun{r, seq, 0})
	}
	return late
}

// settleLate returns the late runs of earlier commits that are still in their files after a commit
// and may stay there until the next. Those that stay longer are a violation.
func (o *dataOrder) settleLate(c comparison, obs *interp.Observation) (late []lateRun) {
	cut := make(map[uint32]bool) // inodes
	for _, r := range o.late {
		gone, err := c.delta.cuts(r)
		if err != nil {
			obs.Unknown = err
			return nil
		}
		if gone {
			cut[r.ino] = true
		}
	}
	var lost []dataRun
	var seq uint32
	for _, r := range o.late {
		switch r.later++; {
		case cut[r.ino]: // a large hole takes several transactions: one block is enough
		case r.later < lateCommits:
			late = append(late, r)
		default:
			if unwritten, _ := o.missing([]dataRun{r.dataRun}); len(unwritten) > 0 {
				lost, seq = append(lost, unwritten...), r.seq
			}
		}
	}
	if len(lost) > 0 {
		obs.Violations = append(obs.Violations, c.lost(lost, seq))
	}
	return late
}

// lost returns the violation by runs that a transaction made reachable and whose data has not come.
func (c comparison) lost(runs []dataRun, seq uint32) change.Violation {
	r := runs[0]
	return on(checkData.at(c.layout.Geo.Addr(r.block),
		"block %d, which inode %d points to since transaction %d, was not written before that commit,"+
			" nor after it (%d blocks)", r.block, r.ino, seq, countData(runs)),
		ondisk.KindInode, uint64(r.ino))
}

// cuts reports whether a transaction takes one of the blocks of a run from its file, by a pointer
// or by the size, or removes the last name of the file.
func (d *delta) cuts(r lateRun) (bool, error) {
	i, err := d.new.Inode(r.ino)
	if err != nil {
		return false, err
	}
	if i.Links() == 0 || i.Size() <= uint64(r.last)*uint64(d.Geo.BlockSize) {
		return true, nil
	}
	at, _ := slices.BinarySearchFunc(d.pieces, r.block, func(b blockRun, block uint32) int {
		if b.end() <= uint64(block) {
			return -1
		}
		return 1
	})
	for _, b := range d.pieces[at:] {
		if b.first >= r.block+r.n {
			break
		}
		if b.how == left && b.of == r.ino {
			return true, nil
		}
	}
	return false, nil
}
