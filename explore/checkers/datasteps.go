package checkers

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// directWrites returns steps that write with O_DIRECT, also synchronously, in one call or in two.
func (t *topology) directWrites() (out [][]model.Op) {
	if !t.promises.Has(model.Direct) {
		return nil
	}
	write := model.Op{Code: model.Dwrite, Len: 2 * model.Block, Seed: 2}
	for _, p := range t.files {
		out = append(out, opened(p, unix.O_RDWR, write), opened(p, unix.O_RDWR|unix.O_DSYNC, write))
		twice := write
		twice.Code, twice.Seed = model.Dwrites, 1 // not the bytes that the others write
		out = append(out, opened(p, unix.O_RDWR|unix.O_SYNC, twice))
	}
	return out
}

// appends returns steps that write at the end of a file through O_APPEND.
func (t *topology) appends() (out [][]model.Op) {
	for _, p := range t.files {
		size, _ := t.fs.Size(p)
		write := model.Op{Code: model.Write, Off: size, Len: large, Seed: 2}
		const appending = unix.O_RDWR | unix.O_APPEND
		out = append(out, opened(p, appending, write), opened(p, appending|unix.O_DSYNC, write))
		if t.promises.Has(model.Direct) && size%model.Block == 0 {
			write.Code, write.Len = model.Dwrite, 2*model.Block
			out = append(out, opened(p, appending|unix.O_DSYNC, write))
		}
	}
	return out
}

// mappedWrites returns steps that write a file of two blocks through a mapping, and sync none of
// it, the second block, or both of them one after the other.
func (t *topology) mappedWrites() (out [][]model.Op) {
	const block = model.Block
	write := model.Op{Code: model.Mmapwrite, Len: 2 * block, Seed: 2}
	second := model.Op{Code: model.Msync, Off: block, Len: block}
	first := model.Op{Code: model.Msync, Len: block}
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		size, closing := model.Op{Code: model.Ftruncate, Len: 2 * block}, model.Op{Code: model.Close}
		out = append(out, step(open, size, write, closing), step(open, size, write, second, closing),
			step(open, size, write, second, first, closing))
	}
	return out
}

// waitForRange are the flags with which sync_file_range(2) writes a range and waits for it.
const waitForRange = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE |
	unix.SYNC_FILE_RANGE_WAIT_AFTER

// rangeSteps returns steps that change the space of a file, and sync_file_range.
func (t *topology) rangeSteps() (out [][]model.Op) {
	const keep = unix.FALLOC_FL_KEEP_SIZE
	modes := []model.Op{}
	add := func(can bool, mode int, off, n uint64) {
		if can {
			modes = append(modes, model.Op{Code: model.Fallocate, Flags: mode, Off: off, Len: n})
		}
	}
	const block = model.Block
	add(!t.promises.NoFallocate, keep, large, 2*block)
	add(!t.promises.NoPunch, unix.FALLOC_FL_PUNCH_HOLE|keep, block, block)
	add(t.promises.Has(model.ZeroRange), unix.FALLOC_FL_ZERO_RANGE, 0, block)
	add(t.promises.Has(model.ZeroRange), unix.FALLOC_FL_ZERO_RANGE|keep, block, 4*block)
	add(t.promises.Has(model.Shift), unix.FALLOC_FL_COLLAPSE_RANGE, 0, block)
	add(t.promises.Has(model.Shift), unix.FALLOC_FL_INSERT_RANGE, block, block)
	for _, p := range t.files {
		for _, o := range modes {
			if size, _ := t.fs.Size(p); size < large { // in a file with contents on the disk
				out = append(out, step(model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR},
					model.Op{Code: model.Write, Len: large, Seed: 1}, model.Op{Code: model.Fsync}, o))
				continue
			}
			out = append(out, opened(p, unix.O_RDWR, o))
		}
		out = append(out, step(model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR},
			model.Op{Code: model.Write, Len: large, Seed: 2},
			model.Op{Code: model.SyncFileRange, Len: large, Flags: waitForRange},
			model.Op{Code: model.Close}))
	}
	return out
}

// reflinks returns steps that clone and deduplicate a block of one file, in the same file and in
// another one.
func (t *topology) reflinks() (out [][]model.Op) {
	if !t.promises.Has(model.Reflink) {
		return nil
	}
	const block = model.Block
	for _, p := range t.files {
		for _, q := range t.files {
			open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
			source := model.Op{Code: model.Open, Slot: 1, Path: q, Flags: unix.O_RDONLY}
			clone := model.Op{Code: model.Clone, From: 1, Len: block}
			if p == q {
				clone.Off = 2 * block
			}
			dedupe := clone
			dedupe.Code = model.Dedupe
			out = append(out, step(open, source, clone), step(open, source, dedupe))
		}
	}
	return out
}

// longName is a name of which few fit into a block.
func longName(i int) string { return string(rune('a'+i)) + strings.Repeat("l", 199) }

// longCount is how many links with long names make a directory longer than a block of 4 KiB.
const longCount = 24

// longNames returns steps that create a file with a long name, fill a directory with long names of
// a file, and remove one or all of them.
func (t *topology) longNames() (out [][]model.Op) {
	if t.promises.NoLinks || t.limits.Name < len(longName(0)) {
		return nil
	}
	for _, d := range t.dirs {
		switch names := t.long[d]; {
		case len(names) > 0:
			var all []model.Op
			for _, p := range names {
				all = append(all, model.Op{Code: model.Unlink, Path: p})
			}
			out = append(out, all, step(model.Op{Code: model.Unlink, Path: names[len(names)/2]}))
		case len(t.files) > 0:
			var all []model.Op
			for i := range longCount {
				all = append(all,
					model.Op{Code: model.Link, Path: t.files[0], To: path.Join(d, longName(i))})
			}
			out = append(out, all, all[:1])
		}
	}
	return out
}

// thresholds returns steps with sizes at which file systems change how they store something:
// contents in the inode (ext4: 60 bytes; Btrfs: 2,048) and beyond the 12 direct blocks of 1 KiB,
// attributes beside the inode, and targets of symbolic links in it (60 bytes) and in a block.
func (t *topology) thresholds() (out [][]model.Op) {
	for _, p := range t.files {
		for _, n := range []uint64{60, 2048, 12<<10 + 1} {
			out = append(out, opened(p, unix.O_RDWR|unix.O_TRUNC,
				model.Op{Code: model.Write, Len: n, Seed: 1}))
		}
		if !t.promises.NoXattrs {
			out = append(out, step(model.Op{Code: model.Setxattr, Path: p, Name: "user.large",
				Value: strings.Repeat("v", 900)}))
		}
	}
	if len(t.files)+len(t.links) < t.limits.Files && !t.promises.NoSymlinks {
		for _, n := range []int{59, 60, 1000} {
			out = append(out, step(model.Op{Code: model.Symlink, Path: t.free("/"),
				To: strings.Repeat("t", n)}))
		}
	}
	return out
}
