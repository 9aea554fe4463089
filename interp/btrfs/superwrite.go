package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp"
)

// superWrite judges what a write does to the superblock at one of its places.
func (f *FS) superWrite(at uint64, w interp.Write, obs *interp.Observation) {
	now := new([superSize]byte)
	if err := readFull(f.disk, now[:], at); err != nil {
		obs.Unknown = err
		return
	}
	if fc := f.ahead; fc != nil && (magicOf(now) != superMagic || (superblock{now}).generation() != fc.sb.generation()) {
		f.dropForecast() // what comes instead may need its memory
	}
	if f.base == nil {
		f.appear(at, now, obs)
		return
	}
	member := f.base.devs.on(at-at%interp.DiskStride) != nil
	if !member && (magicOf(now) != superMagic || (superblock{now}).fsid() != f.base.sb.fsid()) {
		return // of a disk that has nothing to do with us
	}
	switch magicOf(now) {
	case superMagic:
	case 0, mkfsMagic:
		f.erase(at, now, obs)
		return
	default:
		if w.Discard {
			f.erase(at, now, obs)
			return
		}
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the superblock is overwritten by something that is none (magic %q)", now[superMagicAt:superMagicAt+8]).v)
		return
	}
	sb, err := parseSuper(now, at)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	switch {
	case sb.rewritten():
		f.leave(at, "a tool changes its format in place; it is taken up again when that is done", obs)
		return
	case sb.fsid() != f.base.sb.fsid():
		if isPrimary(at) {
			f.leave(at, "another file system takes its place", obs)
		}
		return
	}
	f.follow(at, sb, obs)
}

// isPrimary tells whether an address is that of a disk's first superblock.
func isPrimary(at uint64) bool { return at%interp.DiskStride == superOffset }

func (f *FS) refuseSuper(err error, obs *interp.Observation) {
	if e, ok := errors.AsType[*structureError](err); ok {
		obs.Violations = append(obs.Violations, e.v)
	} else {
		obs.Unknown = err
	}
}

// follow judges a superblock of the file system that is followed.
func (f *FS) follow(at uint64, sb superblock, obs *interp.Observation) {
	if err := sb.checkUnchanged(f.base.sb, at); err != nil {
		f.refuseSuper(err, obs)
		return
	}
	base, err := f.join(at, sb)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	obs.Generation = sb.generation()
	was := earlier{base, base.sb, f.log}
	f.judgeSuper(base, at, sb, obs)
	settle := f.settle
	f.settle = func(written bool) {
		if settle != nil {
			settle(written)
		}
		if written {
			f.remember(was, at, sb)
		}
	}
}

// judgeSuper judges a superblock that is of the file system that is followed, by what it changes.
func (f *FS) judgeSuper(base *state, at uint64, sb superblock, obs *interp.Observation) {
	old := f.base.sb
	if j := f.judged; j != nil && j.settled && !j.stale && j.identity == sb.identity() {
		f.again(j, at, obs)
		f.keep(base)
		return
	}
	switch {
	case sb.generation() < old.generation():
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "generation goes back from %d to %d", old.generation(), sb.generation()).v)
	case sb.generation() > old.generation() && sb.logRoot() != 0 && sb.logRoot() != old.logRoot():
		// A commit ends the log (btrfs_commit_transaction); tools may leave the one that is there.
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "log_root is %d in a commit, which ends the log", sb.logRoot()).v)
	case sb.generation() > old.generation():
		f.commit(base, at, sb, obs)
	case sb.identity() == old.identity():
		f.keep(base) // a copy that is written again
	case !sb.sameTrees(old):
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the roots of the trees changed and the generation stayed %d", old.generation()).v)
	default:
		if sb.logRoot() != old.logRoot() || sb.b[200] != old.b[200] {
			f.logCommit(base, sb, obs)
			return
		}
		f.settle = func(written bool) {
			if written {
				base.sb = sb
				f.base = base
			}
		}
	}
}

// sameTrees tells whether two superblocks lead to the same trees, apart from the log.
func (s superblock) sameTrees(o superblock) bool {
	return s.root() == o.root() && s.rootLevel() == o.rootLevel() && s.chunkRoot() == o.chunkRoot() &&
		s.chunkRootLevel() == o.chunkRootLevel() && s.chunkRootGen() == o.chunkRootGen()
}

// again answers a further copy of a superblock that was judged as the first was.
func (f *FS) again(j *judgement, at uint64, obs *interp.Observation) {
	if j.written {
		return
	}
	obs.Violations, obs.Unknown = j.violations, j.unknown
	if len(obs.Violations) == 0 && obs.Unknown == nil {
		obs.Violations = []change.Violation{violatedAt(refusedRule, at, "the commit of generation %d was refused", j.generation).v}
	}
}
