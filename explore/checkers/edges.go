package checkers

import (
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// tailSeed is the pattern of what is written behind the end of a file. No other write has it.
const tailSeed = 9

// edges returns two steps for a file with contents on the disk. One changes parts of blocks in
// other ways than by a write. The other one makes the file larger, each time after a mapping has
// written behind its end. The whole content is compared afterwards, so one step is enough for all
// ways.
func (t *topology) edges() (out [][]model.Op) {
	for _, p := range t.files {
		written := step(model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR},
			model.Op{Code: model.Write, Len: large, Seed: 1}, model.Op{Code: model.Fsync})
		out = append(out, slices.Concat(written, oddRanges(t.promises)),
			slices.Concat(written, tails(t.promises)))
	}
	return out
}

// oddRanges returns operations on parts of blocks of a file of at least 9,000 bytes.
func oddRanges(p model.Promises) (out []model.Op) {
	const keep = unix.FALLOC_FL_KEEP_SIZE
	allocate := func(can bool, mode int, off, n uint64) {
		if can {
			out = append(out, model.Op{Code: model.Fallocate, Flags: mode, Off: off, Len: n})
		}
	}
	canZero := p.Has(model.ZeroRange)
	allocate(!p.NoPunch, unix.FALLOC_FL_PUNCH_HOLE|keep, 1000, 2000)
	allocate(canZero, unix.FALLOC_FL_ZERO_RANGE|keep, 4000, 1000)
	out = append(out, model.Op{Code: model.Ftruncate, Len: 7000}, model.Op{Code: model.Ftruncate,
		Len: large})
	allocate(!p.NoFallocate, 0, large-500, 5000)
	allocate(canZero, unix.FALLOC_FL_ZERO_RANGE, large+4000, 5000)
	return out
}

// tails returns operations that make a file larger, each after a write behind its end.
func tails(p model.Promises) []model.Op {
	tail := model.Op{Code: model.Mmaptail, Len: 50, Seed: tailSeed}
	out := []model.Op{
		{Code: model.Ftruncate, Len: 5000}, tail,
		{Code: model.Ftruncate, Len: 7000}, tail,
		{Code: model.Write, Off: 20000, Len: small, Seed: 2}, tail,
	}
	if p.NoFallocate {
		return append(out, model.Op{Code: model.Ftruncate, Len: 30000})
	}
	return append(out, model.Op{Code: model.Fallocate, Len: 30000})
}

// mapped returns steps that change the contents of a file in a way that changes its extents, and
// compare both. FIEMAP writes the file back first.
func mapped(t *topology) (out [][]model.Op) {
	if !t.promises.Has(model.FileExtents) {
		return nil
	}
	var steps [][]model.Op
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR | unix.O_TRUNC}
		write := func(off, n uint64) model.Op {
			return model.Op{Code: model.Write, Off: off, Len: n, Seed: 1}
		}
		steps = append(steps, step(open, write(t.limits.Far, small)), step(open, write(0, small)))
		if !t.promises.NoFallocate {
			allocate := model.Op{Code: model.Fallocate, Len: 8 * model.Block}
			steps = append(steps, step(open, allocate, write(2*model.Block+1, small)))
		}
		if t.promises.Has(model.Subvolumes) {
			compress := model.Op{Code: model.Setflags, Path: p, Flags: agent.Compressed}
			steps = append(steps, step(open, compress, write(0, large)))
		}
	}
	steps = slices.Concat(steps, t.rangeSteps(), t.mappedWrites(), t.directWrites(), t.reflinks())
	for _, ops := range steps {
		out = append(out, append(slices.Clone(ops), model.Op{Code: model.Fiemap, Path: ops[0].Path}))
	}
	return out
}
