package checkers

import (
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// rareSteps returns steps that programs do rarely: exchanging renames, and the use of a descriptor
// whose name is gone, renamed or replaced.
func (c *Core) rareSteps(t *topology) (out [][]model.Op) {
	for _, p := range slices.Concat(t.files, t.links, t.dirs[1:]) {
		for _, q := range slices.Concat(t.files, t.links, t.dirs[1:]) {
			if p < q && !c.Promises.NoExchange && !below(q, p) {
				out = append(out, step(model.Op{Code: model.Rename, Path: p, To: q,
					Flags: unix.RENAME_EXCHANGE}))
			}
		}
	}
	for _, p := range t.files {
		out = append(out, c.heldOpen(t, p)...)
	}
	return out
}

// heldOpen returns steps that open a file, change its name, use the descriptor, and close it.
func (c *Core) heldOpen(t *topology, p string) (out [][]model.Op) {
	open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
	write := model.Op{Code: model.Write, Len: large, Seed: 2}
	fsync, closing := model.Op{Code: model.Fsync}, model.Op{Code: model.Close}
	free := t.free(path.Dir(p))
	changes := []model.Op{
		{Code: model.Unlink, Path: p},
		{Code: model.Rename, Path: p, To: free},
	}
	for _, over := range t.files {
		if over != p {
			changes = append(changes, model.Op{Code: model.Rename, Path: over, To: p})
		}
	}
	for _, change := range changes {
		out = append(out, step(open, change, write, closing), step(open, change, write, fsync, closing))
	}
	return append(out,
		step(open, write, fsync, model.Op{Code: model.Rename, Path: p, To: free}, fsync, closing))
}
