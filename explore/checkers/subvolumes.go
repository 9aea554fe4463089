package checkers

import (
	"path"

	"fsward/explore/model"
)

// maxSubvolumes bounds the subvolumes of a tree, beside the one that is mounted.
const maxSubvolumes = 2

// onSubvolumes returns steps that make subvolumes and snapshots, delete them with what is in them,
// and remove a directory from which a snapshot was deleted.
func onSubvolumes(t *topology) (out [][]model.Op) {
	if !t.promises.Has(model.Subvolumes) {
		return nil
	}
	var volumes []string
	for _, d := range t.dirs[1:] {
		if t.fs.IsVolume(d) {
			volumes = append(volumes, d)
		}
	}
	snapshot := func(p, to string) model.Op { return model.Op{Code: model.Snapshot, Path: p, To: to} }
	for _, p := range volumes {
		out = append(out, step(model.Op{Code: model.DeleteSubvolume, Path: p}))
	}
	if len(volumes) >= maxSubvolumes {
		return out
	}
	for _, d := range t.dirs {
		out = append(out, step(model.Op{Code: model.Subvolume, Path: t.free(d)}))
	}
	for _, p := range append(volumes, "/") {
		if o := snapshot(p, t.free("/")); t.fs.Knows(o) && !t.lacks.any() {
			out = append(out, step(o))
		}
	}
	if n := t.free("/"); len(volumes) == 0 && !t.lacks.any() {
		s := path.Join(n, "na")
		out = append(out, step(model.Op{Code: model.Mkdir, Path: n, Mode: 0o755}, snapshot("/", s),
			model.Op{Code: model.DeleteSubvolume, Path: s}, model.Op{Code: model.Rmdir, Path: n}))
	}
	return out
}
