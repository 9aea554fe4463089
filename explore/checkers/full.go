package checkers

import (
	"path"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// fullDisk is the group of operations on a full disk.
const fullDisk Group = "full"

// onFullDisk returns steps that fill the disk. They write a file and make another one, which may
// fail, and force it to the disk while it is full or when it has space again. They also remove a
// file while it is full, and leave a rename to the next sync or unmount of the full disk.
func (t *topology) onFullDisk() (out [][]model.Op) {
	if !t.promises.Has(model.Full) {
		return nil
	}
	fill, free := model.Op{Code: model.FillDisk}, model.Op{Code: model.FreeDisk}
	fsync := model.Op{Code: model.Fsync}
	write := func(n, seed uint64) model.Op { return model.Op{Code: model.Write, Len: n, Seed: seed} }
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		out = append(out,
			step(open, write(large, 1), fsync, fill, write(2*large, 2), fsync),
			step(open, write(large, 1), fsync, fill, write(2*large, 2),
				model.Op{Code: model.Rename, Path: p, To: t.free(path.Dir(p))}, free, write(small, 1), fsync),
			step(open, fill, model.Op{Code: model.Unlink, Path: p}, free),
			step(fill, model.Op{Code: model.Rename, Path: p, To: t.free(path.Dir(p))}))
	}
	if len(t.files)+len(t.links) < t.limits.Files {
		out = append(out, step(fill, model.Op{Code: model.Open, Path: t.free("/"),
			Flags: unix.O_CREAT | unix.O_EXCL | unix.O_RDWR, Mode: 0o644}, write(small, 1), fsync))
	}
	return out
}
