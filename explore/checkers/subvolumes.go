package checkers

import (
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// maxSubvolumes bounds the subvolumes of a tree, beside the one that is mounted.
const maxSubvolumes = 3

// onSubvolumes returns steps that make subvolumes and snapshots, also of subvolumes with others in
// them, make them read-only and writable again, and delete them with what is in them. They also
// remove a directory from which a snapshot was deleted.
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
	for _, p := range t.placeholders {
		out = append(out, step(model.Op{Code: model.Rmdir, Path: p}))
	}
	for _, p := range volumes {
		set := model.Op{Code: model.SetReadOnly, Path: p, Flags: agent.ReadOnly}
		if t.fs.Flags(p)&agent.ReadOnly != 0 {
			set.Flags = 0
		}
		out = append(out, step(model.Op{Code: model.DeleteSubvolume, Path: p}))
		if t.fs.Knows(set) {
			out = append(out, step(set))
		}
	}
	if len(volumes) >= maxSubvolumes {
		return out
	}
	to := t.free("/")
	if !t.lacks.any() {
		out = append(out, inReadOnly(t, to, volumes)...)
	}
	if len(volumes)+2 <= maxSubvolumes && !t.lacks.any() { // a tour has more subvolumes later
		p, s := path.Join(to, "na"), to+"x"
		out = append(out, step(
			model.Op{Code: model.Subvolume, Path: to},
			model.Op{Code: model.Open, Path: p, Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o644},
			model.Op{Code: model.Write, Len: small, Seed: 1}, snapshot("/", s, agent.ReadOnly)))
	}
	for _, d := range t.dirs {
		out = append(out, step(model.Op{Code: model.Subvolume, Path: t.free(d)}))
	}
	if t.lacks.any() {
		return out
	}
	for _, p := range append(volumes, "/") {
		out = append(out, step(snapshot(p, to, 0)), step(snapshot(p, to, agent.ReadOnly)))
	}
	if len(volumes) == 0 {
		s := path.Join(to, "na")
		mkdir := model.Op{Code: model.Mkdir, Path: to, Mode: 0o755}
		out = append(out, step(mkdir, snapshot("/", s, 0),
			model.Op{Code: model.DeleteSubvolume, Path: s}, model.Op{Code: model.Rmdir, Path: to}))
	}
	return out
}

// snapshot returns the operation that makes a snapshot, with agent.ReadOnly or without.
func snapshot(p, to string, property int) model.Op {
	return model.Op{Code: model.Snapshot, Path: p, To: to, Flags: property}
}

// inReadOnly returns steps that make a read-only snapshot of the root at a path, try to change what
// is in it, and change its source. It leaves out what is in other subvolumes.
func inReadOnly(t *topology, to string, volumes []string) (out [][]model.Op) {
	for _, p := range t.files {
		if slices.ContainsFunc(volumes, func(v string) bool { return below(p, v) }) {
			continue
		}
		q := path.Join(to, p)
		out = append(out, slices.Concat(step(snapshot("/", to, agent.ReadOnly)), changes(q, q+"x"),
			opened(p, unix.O_RDWR, model.Op{Code: model.Write, Len: large, Seed: 2})))
		if t.promises.Has(model.ACL) { // a step of its own: Btrfs allows it
			out = append(out, step(snapshot("/", to, agent.ReadOnly), model.Op{Code: model.Setxattr,
				Path: q, Name: "system.posix_acl_access", Value: model.AccessList(0o640, 7, 6)}))
		}
	}
	return out
}

// changes returns operations that change a file in all ways that a flag or a read-only subvolume
// forbids. free is a name that nothing has.
func changes(p, free string) []model.Op {
	return step(
		model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR},
		model.Op{Code: model.Write, Len: small, Seed: 2}, model.Op{Code: model.Close},
		model.Op{Code: model.Truncate, Path: p, Len: 1},
		model.Op{Code: model.Chmod, Path: p, Mode: 0o600},
		model.Op{Code: model.Utimes, Path: p, Mtime: oldTime.UnixNano()},
		model.Op{Code: model.Setxattr, Path: p, Name: attribute, Value: "3"},
		model.Op{Code: model.Link, Path: p, To: free},
		model.Op{Code: model.Rename, Path: p, To: free},
		model.Op{Code: model.Unlink, Path: p})
}
