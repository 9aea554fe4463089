package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// superWrite judges what a write does to the superblock at one of its places.
func (f *FS) superWrite(at uint64, w interp.Write, obs *interp.Observation) {
	now, err := readSuper(f.disk, at)
	if err != nil {
		obs.Unknown = err
		return
	}
	if fc := f.ahead; fc != nil && (now.Magic() != ondisk.SuperMagic || now.Generation() != fc.sb.Generation()) {
		f.dropForecast() // what comes instead may need its memory
	}
	if f.base == nil {
		f.appear(at, now, obs)
		return
	}
	member := f.base.devs.on(at-at%interp.DiskStride) != nil
	if !member && (now.Magic() != ondisk.SuperMagic || now.FSID() != f.base.sb.FSID()) {
		return // of a disk that has nothing to do with us
	}
	switch now.Magic() {
	case ondisk.SuperMagic:
	case 0, ondisk.MkfsMagic:
		f.erase(at, now, obs)
		return
	default:
		if w.Discard {
			f.erase(at, now, obs)
			return
		}
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the superblock is overwritten by something that is none (magic %q)", now.Bytes()[ondisk.SuperMagicAt:ondisk.SuperMagicAt+8]).v)
		return
	}
	sb := now
	if err := checkSuper(sb, at); err != nil {
		f.refuseSuper(err, obs)
		return
	}
	switch {
	case inRewrite(sb):
		f.leave(at, "a tool changes its format in place; it is taken up again when that is done", obs)
		return
	case sb.FSID() != f.base.sb.FSID():
		if isPrimary(at) {
			f.leave(at, "another file system takes its place", obs)
		}
		return
	}
	f.follow(at, sb, obs)
}

// isPrimary tells whether an address is that of a disk's first superblock.
func isPrimary(at uint64) bool { return at%interp.DiskStride == ondisk.SuperOffset }

func (f *FS) refuseSuper(err error, obs *interp.Observation) {
	if e, ok := errors.AsType[*structureError](err); ok {
		obs.Violations = append(obs.Violations, e.v)
	} else {
		obs.Unknown = err
	}
}

// follow judges a superblock of the file system that is followed.
func (f *FS) follow(at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	if err := checkUnchanged(sb, f.base.sb, at); err != nil {
		f.refuseSuper(err, obs)
		return
	}
	base, err := f.join(at, sb)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	obs.Generation = sb.Generation()
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
func (f *FS) judgeSuper(base *state, at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	old := f.base.sb
	if j := f.judged; j != nil && j.settled && !j.stale && j.identity == identityOf(sb) {
		f.again(j, at, obs)
		f.keep(base)
		return
	}
	switch {
	case sb.Generation() < old.Generation():
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "generation goes back from %d to %d", old.Generation(), sb.Generation()).v)
	case sb.Generation() > old.Generation() && sb.LogRoot() != 0 && sb.LogRoot() != old.LogRoot():
		// A commit ends the log (btrfs_commit_transaction); tools may leave the one that is there.
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "log_root is %d in a commit, which ends the log", sb.LogRoot()).v)
	case sb.Generation() > old.Generation():
		f.commit(base, at, sb, obs)
	case identityOf(sb) == identityOf(old):
		f.keep(base) // a copy that is written again
	case !sameTrees(sb, old):
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the roots of the trees changed and the generation stayed %d", old.Generation()).v)
	default:
		if sb.LogRoot() != old.LogRoot() || sb.LogRootLevel() != old.LogRootLevel() {
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
func sameTrees(s, o ondisk.Superblock) bool {
	return s.Root() == o.Root() && s.RootLevel() == o.RootLevel() && s.ChunkRoot() == o.ChunkRoot() &&
		s.ChunkRootLevel() == o.ChunkRootLevel() && s.ChunkRootGen() == o.ChunkRootGen()
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
