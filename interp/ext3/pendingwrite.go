package ext3

import (
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A pendingWrite is what the write last observed changes in what FS knows. The zero value changes
// nothing. Exactly one of landed and refused ends it.
type pendingWrite struct {
	super     *superChange // the write is of the superblock, and begins or ends a mount; nil: it does not
	unmounted bool         // the file system was not mounted

	// Of a mounted file system:
	placed []uint32     // blocks that are in their places then, so that their copies in the journal are not needed any more
	unread error        // the device could not be read to find placed; the changes below do not happen then
	tail   *tailMove    // the write is of the journal's superblock; nil: it is not
	commit *commitWrite // the write ends a transaction; nil: it does not
	filled writtenRun   // blocks that have new contents; of 0 blocks: none
	logged interp.Write // the write, if it is in the log; of 0 bytes: it is not
	stale  []uint32     // blocks whose contents are kept and become others
}

// A superChange is what a write of the superblock makes of the file system.
type superChange struct {
	geo *ondisk.Geometry // nil: the superblock is erased
	m   *Mounted         // nil: it is not mounted; else it begins to be
}

// A commitWrite is a transaction that a write commits.
type commitWrite struct {
	comparison
	whole bool // the comparison found all that changed
}

// landed makes the changes: the write is on the device. The error is of reading the device, after
// which nothing is known of the file system.
func (p *pendingWrite) landed(f *FS) error {
	m := f.m
	if m != nil {
		if len(m.State.cache) > 0 {
			m.State.forget()
		}
		m.State.kept.drop(p.stale...)
		if p.logged.Len > 0 {
			f.tail.wrote(p.logged, &m.Log.Journal, maxKept(f.limits))
		}
		for _, block := range p.placed {
			m.State.drop(block)
		}
	}
	err := p.unread
	switch {
	case err != nil:
	case p.super != nil:
		p.super.landed(f)
	case p.unmounted:
		f.loose = true
	default:
		if p.tail != nil {
			m.moveTail(*p.tail)
		}
		if p.commit != nil {
			err = p.commit.landed(f)
		}
	}
	if p.filled.n > 0 {
		f.data.wrote(p.filled)
	}
	return err
}

// refused forgets what may not be on the device as it was: the write did not get there, or only in
// part.
func (p *pendingWrite) refused(f *FS) {
	if f.m == nil {
		return
	}
	f.m.State.kept.drop(p.stale...)
	if p.logged.Len > 0 {
		p.logged.Data = nil
		f.tail.wrote(p.logged, &f.m.Log.Journal, maxKept(f.limits))
	}
}

func (c *superChange) landed(f *FS) {
	f.geo, f.m = c.geo, c.m
	if c.m == nil {
		return
	}
	c.m.State.dev = f.disk
	f.order, f.data = order{durable: f.order.durable}, dataOrder{commits: 2} // nothing was written before it was mounted
	f.loose = false
}

func (c *commitWrite) landed(f *FS) error {
	m := f.m
	m.State.kept.committed(c.comparison)
	f.tail = logTail{}
	m.commit(c.t)
	f.data.committed(f.order.flushed)
	f.order.committed()
	if c.layout != m.Layout {
		m.become(c.layout)
		f.geo = c.layout.Geo
	}
	if !c.whole {
		return m.ReadRoles()
	}
	m.follow(c.delta)
	return nil
}
