package checkers

import (
	"path"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// subvolumeBugs are those of subvolumes and snapshots, and of the flags of files.
var subvolumeBugs = []unseenBug{
	{bug: "setflags not journaled", checker: "sync"},
	{bug: "a write to a synchronous file is lost", checker: "sync", only: "flags"},
	{bug: "delete_subvolume not journaled", checker: "sync"},
	{bug: "snapshot not journaled", checker: "sync"},
	{bug: "a snapshot is empty", checker: "sync"},
	// As in Btrfs, "propagate last_unlink_trans earlier when doing a rmdir".
	{bug: "rmdir above a deleted snapshot not journaled", checker: "sync"},
	{bug: "a snapshot of a subvolume with another one is empty", checker: "sync", only: "subvolumes"},
	{bug: "a read-only snapshot can be written", checker: "sync", only: "subvolumes"},
	{bug: "set_read_only not journaled", checker: "sync", only: "subvolumes"},
	{bug: "a file in a read-only subvolume can be removed", checker: "sync", only: "subvolumes"},
	// Flags that forbid changes.
	{bug: "an immutable file can be removed", checker: "sync", only: "immutable"},
	{bug: "an append-only file can be truncated", checker: "sync", only: "immutable"},
	{bug: "forbidding flags not journaled", checker: "sync", only: "immutable"},
}

// volumeChange notes an operation, and returns that which is done in its place.
func (f *fake) volumeChange(o model.Op) model.Op {
	switch {
	case o.Code == model.DeleteSubvolume:
		f.unseen.above = path.Dir(o.Path)
	case o.Code == model.Snapshot && f.bug == "a snapshot is empty":
		return model.Op{Code: model.Subvolume, Path: o.To}
	case o.Code == model.Snapshot && f.bug == "a snapshot of a subvolume with another one is empty" &&
		f.hasVolumes(o.Path):
		return model.Op{Code: model.Subvolume, Path: o.To}
	case o.Code == model.Snapshot && f.bug == "a read-only snapshot can be written":
		o.Flags = 0
	}
	return o
}

// hasVolumes reports whether a subvolume is below a path.
func (f *fake) hasVolumes(p string) bool {
	return slices.ContainsFunc(f.observed().Paths(), func(q string) bool {
		return p != q && below(q, p) && f.fs.IsVolume(q)
	})
}

// permits reports whether the bug lets an operation happen that is forbidden. It lifts what
// forbids it.
func (f *fake) permits(o model.Op) bool {
	flags := f.fs.Flags(o.Path)
	switch {
	case f.bug == "an immutable file can be removed" && o.Code == model.Unlink &&
		flags&agent.Immutable != 0,
		f.bug == "an append-only file can be truncated" && o.Code == model.Truncate &&
			flags&agent.AppendOnly != 0:
		f.fs.Apply(model.Op{Code: model.Setflags, Path: o.Path})
		return true
	case f.bug == "a file in a read-only subvolume can be removed" && o.Code == model.Unlink:
		for _, d := range parents(o.Path) {
			if f.fs.Flags(d)&agent.ReadOnly != 0 {
				f.fs.Apply(model.Op{Code: model.SetReadOnly, Path: d})
				return true
			}
		}
	}
	return false
}

// volumeUnlogged reports whether the journal lacks an operation.
func (f *fake) volumeUnlogged(o model.Op) bool {
	switch f.bug {
	case "forbidding flags not journaled":
		return o.Code == model.Setflags && o.Flags&agent.Forbidding != 0
	case "rmdir above a deleted snapshot not journaled":
		return o.Code == model.Rmdir && o.Path == f.unseen.above
	}
	return false
}
