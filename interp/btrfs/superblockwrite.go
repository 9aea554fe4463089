package btrfs

import (
	"encoding/binary"
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A superblockWrite is the part of the write under observation that touches one copy of the
// superblock.
//
// A commit passes through onSuperblockWrite → validate → classify → judgeCommit → comparison.run →
// diff.diffTrees.
type superblockWrite struct {
	*FS
	at      uint64            // device address of the copy
	sb      ondisk.Superblock // after the write
	discard bool              // the guest discards the copy
	old     *state            // the base, including the device of this superblock
	obs     *interp.Observation
}

// onSuperblockWrite judges the effect of a write on the copy of the superblock at a device address.
func (f *FS) onSuperblockWrite(at uint64, w *interp.Write, obs *interp.Observation) {
	now, err := readSuper(f.comparer.disk, at)
	if err != nil {
		obs.Unknown = err
		return
	}
	f.forecasts.expectGeneration(now)
	s := superblockWrite{FS: f, at: at, sb: now, discard: w.Discard, obs: obs}
	if f.base == nil {
		s.appear()
		return
	}
	if s.validate() {
		s.classify()
	}
}

// validate reports whether the write leaves a well-formed superblock of some Btrfs. It handles
// every other write: the erasure of a superblock, its destruction, and a malformed superblock.
func (s *superblockWrite) validate() bool {
	member := s.base.devs.on(s.at-s.at%interp.DiskStride) != nil
	ours := s.sb.Magic() == ondisk.SuperMagic && s.sb.FSID() == s.base.sb.FSID()
	switch magic := s.sb.Magic(); {
	case !member && !ours:
		return false // the disk does not belong to this file system
	case magic == ondisk.SuperMagic:
	case isPrimary(s.at) && hasExt(s.comparer.disk, s.at):
		s.leave("an ext2, ext3 or ext4 takes its place")
		return false
	case magic == 0 || magic == ondisk.MkfsMagic || s.discard:
		s.erase()
		return false
	default:
		s.destroy()
		return false
	}
	if err := checkSuper(s.sb, s.at); err != nil {
		refuse(err, s.obs)
		return false
	}
	return true
}

// destroy handles a superblock over which something else is written.
func (s *superblockWrite) destroy() {
	restored, err := s.restored()
	switch {
	case err != nil:
		s.obs.Unknown = err
	case restored && isPrimary(s.at):
		s.leave("the former file system of a conversion takes its place")
	case !restored:
		bytes := s.sb.Bytes()[ondisk.SuperMagicAt : ondisk.SuperMagicAt+8]
		s.violate("the write destroys the superblock (magic %q)", bytes)
	}
}

// hasExt reports whether the disk of a superblock has the magic of ext2, ext3 or ext4 in its place.
// btrfs-convert -r restores the blocks of the former file system over those of Btrfs, beginning
// with this one, which the conversion had cleared (migrate_super_block). mkfs.btrfs clears it, too.
func hasExt(d interp.Disk, at uint64) bool {
	const magicAt, magic = 1024 + 56, 0xef53 // s_magic
	b := make([]byte, 2)
	return readFull(d, b, at-at%interp.DiskStride+magicAt) == nil &&
		binary.LittleEndian.Uint16(b) == magic
}

// isPrimary reports whether a device address is that of a disk's primary superblock.
func isPrimary(at uint64) bool { return at%interp.DiskStride == ondisk.SuperOffset }

// refuse adds an error to an observation: as a violation, or as the reason why it is undecided.
func refuse(err error, obs *interp.Observation) {
	if e, ok := errors.AsType[*structureError](err); ok {
		obs.Violations = append(obs.Violations, e.v)
	} else {
		obs.Unknown = err
	}
}

// violate reports that the superblock breaks superRule.
func (s *superblockWrite) violate(format string, args ...any) {
	s.obs.Violations = append(s.obs.Violations, violatedAt(superRule, s.at, format, args...).v)
}

// classify decides what a well-formed superblock means for this file system. It may belong to
// another file system. Otherwise judge judges it by its changes.
func (s *superblockWrite) classify() {
	switch {
	case inRewrite(s.sb):
		s.leave("a tool changes its format in place; it is followed again when the tool is done")
		return
	case s.sb.FSID() != s.base.sb.FSID():
		if isPrimary(s.at) {
			s.leave("another file system takes its place")
		}
		return
	}
	err := checkUnchanged(s.sb, s.base.sb, s.at)
	if err == nil {
		s.old, err = s.join()
	}
	if err != nil {
		refuse(err, s.obs)
		return
	}
	s.obs.Generation = s.sb.Generation()
	s.pending.next.super = superblockCopy{s.sb, s.at}
	s.pending.next.former = &supersededState{s.old, s.old.sb, s.log}
	s.judge()
}

// judge judges the superblock by its changes. It sets the base for the time after the write has
// landed.
func (s *superblockWrite) judge() {
	old, now := s.base.sb, s.sb
	if j := s.judged; j != nil && j.settled && !j.stale && j.identity == identityOf(now) {
		s.judgeAgain(j)
		s.keep()
		return
	}
	switch {
	case now.Generation() < old.Generation() && s.repeatsPrimary():
		// nothing changes
	case now.Generation() < old.Generation():
		s.violate("generation goes back from %d to %d", old.Generation(), now.Generation())
	case now.Generation() > old.Generation() && now.LogRoot() != 0 && now.LogRoot() != old.LogRoot():
		// A commit ends the log (btrfs_commit_transaction). Tools may keep the old log.
		s.violate("log_root is %d in a commit, which ends the log", now.LogRoot())
	case now.Generation() > old.Generation():
		s.judgeCommit()
	case identityOf(now) == identityOf(old):
		s.keep() // the same superblock again
	case !sameTrees(now, old):
		s.violate("the roots of the trees changed and the generation stayed %d", old.Generation())
	case now.LogRoot() != old.LogRoot() || now.LogRootLevel() != old.LogRootLevel():
		s.judgeLogCommit()
	default:
		s.pending.next.base, s.pending.next.takesSuper = s.old, true
	}
}

// repeatsPrimary reports whether the write makes a mirror equal to the primary superblock of its
// disk. btrfs-progs leave mirrors in the page cache (write_dev_supers), so that they can come when
// the next commit is on another disk already.
func (s *superblockWrite) repeatsPrimary() bool {
	if isPrimary(s.at) {
		return false
	}
	primary, err := readSuper(s.comparer.disk, s.at-s.at%interp.DiskStride+ondisk.SuperOffset)
	return err == nil && identityOf(primary) == identityOf(s.sb)
}

// sameTrees reports whether two superblocks lead to the same trees, apart from the log.
func sameTrees(s, o ondisk.Superblock) bool {
	return s.Root() == o.Root() && s.RootLevel() == o.RootLevel() && s.ChunkRoot() == o.ChunkRoot() &&
		s.ChunkRootLevel() == o.ChunkRootLevel() && s.ChunkRootGen() == o.ChunkRootGen()
}

// judgeAgain gives a further copy of a judged superblock the same verdict as the first copy.
func (s *superblockWrite) judgeAgain(j *judgment) {
	if j.written {
		return
	}
	s.obs.Repeats = true
	s.obs.Violations, s.obs.Unknown = j.violations, j.unknown
	if len(s.obs.Violations) == 0 && s.obs.Unknown == nil {
		s.obs.Violations = []change.Violation{violatedAt(refusedRule, s.at,
			"the commit of generation %d was refused", j.generation).v}
	}
}
