package checkers

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

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
		if t.fs.Xattr(p, attribute) {
			out = append(out, step(model.Op{Code: model.Removexattr, Path: p, Name: attribute}),
				step(model.Op{Code: model.Setxattr, Path: p, Name: attribute, Value: "22",
					Flags: unix.XATTR_REPLACE}))
		}
	}
	return out
}
