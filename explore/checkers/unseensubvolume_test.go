package checkers

import (
	"path"

	"fsward/explore/model"
)

// subvolumeBugs are those of subvolumes and snapshots, and of the flags of files.
var subvolumeBugs = []unseenBug{
	{bug: "setflags not journaled", checker: "sync", only: "flags"},
	{bug: "a write to a synchronous file is lost", checker: "sync", only: "flags"},
	{bug: "delete_subvolume not journaled", checker: "sync"},
	{bug: "snapshot not journaled", checker: "sync"},
	{bug: "a snapshot is empty", checker: "sync"},
	// As in Btrfs, "propagate last_unlink_trans earlier when doing a rmdir".
	{bug: "rmdir above a deleted snapshot not journaled", checker: "sync"},
}

// volumeChange notes an operation, and returns that which is done in its place.
func (f *fake) volumeChange(o model.Op) model.Op {
	switch {
	case o.Code == model.DeleteSubvolume:
		f.unseen.above = path.Dir(o.Path)
	case o.Code == model.Snapshot && f.bug == "a snapshot is empty":
		return model.Op{Code: model.Subvolume, Path: o.To}
	}
	return o
}

// volumeUnlogged reports whether the journal lacks an operation.
func (f *fake) volumeUnlogged(o model.Op) bool {
	return f.bug == "rmdir above a deleted snapshot not journaled" && o.Code == model.Rmdir &&
		o.Path == f.unseen.above
}
