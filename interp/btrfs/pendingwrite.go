package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A pendingWrite is the write under observation: its contents, and the changes to apply when it
// lands on the disk. Observe fills it in. Only landed and refused apply it.
type pendingWrite struct {
	write    *interp.Write  // nil: there is none
	metadata bool           // it may hold metadata
	dataOnly bool           // it holds neither metadata nor a superblock
	blocks   []writtenBlock // its metadata blocks that go to the address in their header
	next     outcome
}

// An outcome is the change of the tracked state once a write of a superblock has landed. The zero
// value changes nothing.
type outcome struct {
	base   *state           // the new base; nil: the base stays
	devs   *devices         // of the new base; nil: they stay
	super  superblockCopy   // the written superblock
	log    *logState        // the new log; only with newLog
	newLog bool             // log replaces the previous log
	commit *judgment        // nil: the write is no commit
	former *supersededState // the previous state; nil: the write supersedes nothing

	takesSuper bool // super replaces the superblock of the new base
	damages    bool // a block of the last commit is overwritten: the base is no longer sound
	unjudged   bool // the commit was not judged sound: read its state again, as far as possible
	restarts   bool // earlier judgments and superseded states are void
	gone       bool // the file system no longer exists
}

// A superblockCopy is a superblock and its device address.
type superblockCopy struct {
	sb ondisk.Superblock
	at uint64
}

// begin makes w the write under observation. It reuses the slice of blocks.
func (p *pendingWrite) begin(w *interp.Write) {
	*p = pendingWrite{write: w, blocks: p.blocks[:0]}
}

// landed applies all changes of the write after it has landed on the disk.
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

// refused drops the cached blocks in the place of a write that was refused or failed. The disk
// keeps its old contents.
func (p *pendingWrite) refused(f *trackedState) {
	if f.base != nil {
		f.base.cache.forget(p.write.Off, p.write.Len)
	}
	if p.next.commit != nil {
		p.next.commit.settled = true
	}
}

// reread returns the state of a superblock whose commit was let through although it was not judged
// sound. If that state cannot be read, reread returns the base with that superblock and the old
// chunks.
func reread(base *state, disk interp.Disk, super superblockCopy) *state {
	s, err := loadState(disk, super.sb, super.at, base.devs, base.cache)
	if s != nil && err == nil {
		s.unjudged = true
	} else {
		s = base
		s.sb = super.sb
	}
	s.unsound = true
	return s
}

// Accept makes the state of an undecided commit a base for comparison.
func (f *FS) Accept() {
	if f.base != nil && f.base.unjudged {
		f.base.unsound, f.base.unjudged = false, false
	}
}
