package ext3

import (
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A pendingWrite holds the changes that the write last observed makes in FS once it lands. The zero
// value changes nothing. Either landed or refused ends it.
type pendingWrite struct {
	// not nil if the write of a superblock begins or ends a mount, or replaces the file system
	super     *superChange
	unmounted bool // the file system was not mounted
	// not nil if the disks of the file system can change with the write
	disks *devices

	// Of a mounted file system:
	// blocks that reach their places, so that their copies in the journal are not needed any more
	placed []uint32
	// set if placed could not be found; the changes by super, tail and commit then do not happen
	unread error
	tail   *tailMove    // the write is one of the journal's superblock; nil: no
	commit *commitWrite // the write ends a transaction; nil: no
	filled writtenRun   // blocks that get new contents; of 0 blocks: none
	logged interp.Write // the write, if it touches the log; of 0 bytes: it does not
	stale  []uint32     // kept blocks whose contents change
}

// devices returns the devices of the file system once the write has landed. now has those before.
func (p *pendingWrite) devices(now *devices) *devices {
	if p.disks != nil {
		return p.disks
	}
	return now
}

// A superChange is the change of FS by a write of the superblock.
type superChange struct {
	geo *ondisk.Geometry // nil: the superblock is erased
	m   *Mounted         // the mount that begins; nil: not mounted
}

// A commitWrite is a transaction that a write commits.
type commitWrite struct {
	comparison
	whole bool      // the comparison found all that changed
	late  []lateRun // data that later commits have to settle
}

// landed makes the changes, since the write is on the device. After an error of a read, the state
// of the file system is unknown.
func (p *pendingWrite) landed(f *FS) error {
	m := f.m
	if p.disks != nil {
		if p.disks.logDisk() != f.disk.logDisk() {
			f.order = order{} // each disk numbers its own writes
		}
		f.disk = p.disks
	}
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

// refused forgets the blocks whose contents are uncertain, since the write may have reached the
// device in part.
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
	// there is no data of this mount yet
	f.order, f.data = order{durable: f.order.durable}, dataOrder{commits: 2}
	f.loose = false
}

func (c *commitWrite) landed(f *FS) error {
	m := f.m
	m.State.kept.committed(c.comparison)
	f.tail = logTail{}
	m.commit(c.t)
	f.data.committed(c.late)
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
