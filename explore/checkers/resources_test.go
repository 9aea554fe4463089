package checkers

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// E2BIG says that there is no room for an attribute, and nothing of other operations.
func TestResourceErrors(t *testing.T) {
	for _, c := range []struct {
		code  model.Code
		errno unix.Errno
		want  bool
	}{
		{model.Setxattr, unix.E2BIG, true}, {model.Write, unix.E2BIG, false},
		{model.Write, unix.ENOSPC, true}, {model.Setxattr, unix.EEXIST, false},
	} {
		if got := isResourceError(c.code, c.errno); got != c.want {
			t.Errorf("%v, %v: %t, want %t", c.code, c.errno, got, c.want)
		}
	}
}

// A file system may refuse a target that is longer than 255 bytes, and no shorter one.
func TestLongTargets(t *testing.T) {
	for _, c := range []struct {
		code  model.Code
		bytes int
		errno unix.Errno
		want  bool
	}{
		{model.Symlink, 256, unix.ENAMETOOLONG, true}, {model.Symlink, 255, unix.ENAMETOOLONG, false},
		{model.Symlink, 256, unix.EEXIST, false}, {model.Rename, 256, unix.ENAMETOOLONG, false},
	} {
		o := model.Op{Code: c.code, Path: "/a", To: strings.Repeat("t", c.bytes)}
		if got := isLongTarget(o, c.errno); got != c.want {
			t.Errorf("%v of %d bytes, %v: %t, want %t", c.code, c.bytes, c.errno, got, c.want)
		}
	}
}
