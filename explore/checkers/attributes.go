package checkers

import (
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// oldTime is a time of modification that no file has by itself. File systems of two seconds keep
// it.
var oldTime = time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC)

// attributes returns steps that set the attributes of a file that no other step changes: its times
// and its owner. They also replace and remove an extended attribute.
func (t *topology) attributes() (out [][]model.Op) {
	for _, p := range t.files {
		out = append(out, step(model.Op{Code: model.Utimes, Path: p, Mtime: oldTime.UnixNano()}))
	}
	for _, p := range slices.Concat(t.files, t.dirs[1:]) {
		if !t.promises.NoModes {
			out = append(out, step(model.Op{Code: model.Chown, Path: p, UID: 7, GID: 8}))
		}
		if !t.promises.NoXattrs {
			set := model.Op{Code: model.Setxattr, Path: p, Name: attribute, Value: "1"}
			replace := model.Op{Code: model.Setxattr, Path: p, Name: attribute, Value: "22",
				Flags: unix.XATTR_REPLACE}
			remove := model.Op{Code: model.Removexattr, Path: p, Name: attribute}
			for _, o := range []model.Op{replace, remove} {
				open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDONLY}
				out = append(out, step(open, set, model.Op{Code: model.Fsync}, o))
			}
		}
	}
	return out
}

// setsFlags returns steps that set flags of a file or a directory, and steps that empty a file, set
// its flags and write to it: Btrfs changes agent.NoCOW of an empty file only.
func setsFlags(t *topology) (out [][]model.Op) {
	if !t.promises.Has(model.FileFlags) {
		return nil
	}
	all := []int{agent.NoDump | agent.NoAccessTime, agent.Synchronous}
	if t.promises.Has(model.Subvolumes) {
		all = append(all, agent.Compressed, agent.NoCOW)
	}
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		write := model.Op{Code: model.Write, Len: large, Seed: 1}
		for _, f := range append(all, 0) {
			set := model.Op{Code: model.Setflags, Path: p, Flags: f}
			out = append(out, step(set), step(open, model.Op{Code: model.Ftruncate}, set, write))
		}
	}
	for _, p := range t.dirs[1:] {
		for _, f := range append(all, 0) {
			out = append(out, step(model.Op{Code: model.Setflags, Path: p, Flags: f}))
		}
	}
	return known(t, out)
}

// known returns the steps of which the model knows what they do.
func known(t *topology, steps [][]model.Op) [][]model.Op {
	return slices.DeleteFunc(steps, func(ops []model.Op) bool {
		return slices.ContainsFunc(ops, func(o model.Op) bool { return !t.fs.Knows(o) })
	})
}

// forbids returns steps that set the flags that forbid changes of a file or of the names in a
// directory, and then try all of these changes. A file of agent.AppendOnly is also written at its
// end. They also clear these flags.
func forbids(t *topology) (out [][]model.Op) {
	if !t.promises.Has(model.FileFlags) {
		return nil
	}
	set := func(p string, f int) model.Op { return model.Op{Code: model.Setflags, Path: p, Flags: f} }
	both := []int{agent.AppendOnly, agent.Immutable}
	for _, p := range t.files {
		size, _ := t.fs.Size(p)
		appends := opened(p, unix.O_RDWR|unix.O_APPEND,
			model.Op{Code: model.Write, Off: size, Len: large, Seed: 2})
		out = append(out, slices.Concat(step(set(p, agent.AppendOnly)), appends))
		for _, f := range both {
			out = append(out, slices.Concat(step(set(p, f)), changes(p, t.free("/"))))
		}
	}
	for _, d := range t.dirs[1:] {
		for _, f := range both {
			ops := step(set(d, f), model.Op{Code: model.Chmod, Path: d, Mode: 0o700},
				model.Op{Code: model.Rename, Path: d, To: t.free("/")})
			for _, p := range slices.Concat(t.files, t.links) {
				if path.Dir(p) == d {
					ops = append(ops, model.Op{Code: model.Unlink, Path: p})
				}
			}
			if f == agent.Immutable || len(t.dirs)-1 < t.limits.Dirs {
				ops = append(ops, model.Op{Code: model.Mkdir, Path: t.free(d), Mode: 0o755})
			}
			out = append(out, ops)
		}
	}
	for _, p := range slices.Concat(t.files, t.dirs[1:]) {
		if t.fs.Flags(p)&agent.Forbidding != 0 {
			out = append(out, step(set(p, 0)))
		}
	}
	return known(t, out)
}

// again returns steps that fsync a file, change it in one way, and fsync it again. A log of fsync
// has the file already then.
func (t *topology) again() (out [][]model.Op) {
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		write, fsync := model.Op{Code: model.Write, Len: large, Seed: 1}, model.Op{Code: model.Fsync}
		free := t.free("/")
		changes := []model.Op{
			{Code: model.Write, Off: t.limits.Far, Len: small, Seed: 2},
			{Code: model.Ftruncate, Len: 5000},
			{Code: model.Rename, Path: p, To: free},
			{Code: model.Chmod, Path: p, Mode: 0o600},
		}
		if !t.promises.NoPunch {
			changes = append(changes, model.Op{Code: model.Fallocate, Len: 4096,
				Flags: unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE})
		}
		if !t.promises.NoLinks && len(t.files)+len(t.links) < t.limits.Files {
			changes = append(changes, model.Op{Code: model.Link, Path: p, To: free})
		}
		for _, o := range changes {
			if o.Code == model.Chmod && t.promises.NoModes {
				continue
			}
			out = append(out, step(open, write, fsync, o, fsync))
		}
	}
	return out
}
