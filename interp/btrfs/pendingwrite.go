package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A pendingWrite is the write under observation: what it holds, and what changes when it lands on
// the disk. Observing a write fills it in; landed and refused are the only places that act on it.
type pendingWrite struct {
	write    *interp.Write  // nil: there is none
	metadata bool           // it may hold metadata
	dataOnly bool           // it holds no metadata and is no superblock
	blocks   []writtenBlock // the metadata blocks in it that name the address that they go to
	next     outcome
}

// An outcome is what the file system consists of once a write of a superblock has landed. The zero
// value changes nothing.
type outcome struct {
	base   *state           // the new base; nil: the base stays
	devs   *devices         // of the new base; nil: they stay
	super  superblockCopy   // the superblock that is written
	log    *logState        // what fsync wrote since; only with newLog
	newLog bool             // log takes the place of the log before
	commit *judgment        // the commit that the write is; nil: it is none
	former *supersededState // what was followed before; nil: the write supersedes nothing

	takesSuper bool // super takes the place of the new base's superblock
	damages    bool // what the last commit needs is overwritten: the base is no longer sound
	unjudged   bool // the commit was not judged sound: its state is read anew, as far as that goes
	restarts   bool // what was judged and superseded before says nothing any more
	gone       bool // there is no file system any more
}

// A superblockCopy is a superblock, and the device address at which it stands.
type superblockCopy struct {
	sb ondisk.Superblock
	at uint64
}

// begin makes w the write under observation. It keeps the room for blocks.
func (p *pendingWrite) begin(w *interp.Write) {
	*p = pendingWrite{write: w, blocks: p.blocks[:0]}
}

// landed applies everything that the write changes, now that it is on the disk.
func (p *pendingWrite) landed(f *trackedState, disk interp.Disk) {
	if f.base != nil {
		keepWritten(f.base, p)
	}
	n := &p.next
	if n.commit != nil {
		n.commit.settled, n.commit.written = true, true
	}
	if n.damages && f.base != nil {
		f.base.unsound = true
	}
	if n.restarts {
		f.judged, f.superseded = nil, nil
	}
	switch {
	case n.gone:
		f.base, f.log = nil, nil
	case n.unjudged:
		f.base, f.log = reread(n.base, disk, n.super), nil
	case n.base != nil:
		if n.takesSuper {
			n.base.sb = n.super.sb
		}
		f.base = n.base
	}
	if n.newLog {
		f.log = n.log
	}
	if n.former != nil {
		f.supersede(n.former, disk, n.super)
	}
}

// refused forgets what the cache holds of the place of the write, which stays as it was before.
func (p *pendingWrite) refused(f *trackedState) {
	if f.base != nil {
		f.base.cache.forget(p.write.Off, p.write.Len)
	}
	if p.next.commit != nil {
		p.next.commit.settled = true
	}
}

// reread returns the state of a superblock whose commit was let through without being judged sound.
// If that state cannot be read, it is the base with that superblock: the chunks stay as they were.
func reread(base *state, disk interp.Disk, super superblockCopy) *state {
	s, err := loadState(disk, super.sb, super.at, base.devs, base.cache)
	if err != nil {
		s = base
		s.sb = super.sb
	}
	s.unsound = true
	return s
}
