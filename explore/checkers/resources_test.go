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
		{model.Write, unix.EFBIG, true},
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

// An ioctl that a file system does not know may give EINVAL, and no other error than ENOTTY.
func TestUnknownIoctls(t *testing.T) {
	for _, c := range []struct {
		want, is unix.Errno
		ok       bool
	}{
		{unix.ENOTTY, unix.EINVAL, true}, {unix.ENOTTY, unix.EPERM, false},
		{unix.EEXIST, unix.EINVAL, false}, {0, unix.EINVAL, false},
	} {
		if got := isUnknownIoctl(c.want, c.is); got != c.ok {
			t.Errorf("%v in place of %v: %t, want %t", c.is, c.want, got, c.ok)
		}
	}
}

// A file system may refuse a file that would be larger than the disk, and none that would fit.
func TestSizeLimit(t *testing.T) {
	disk := func() (statfs, error) { return statfs{blocks: 16, size: 4096}, nil }
	for _, c := range []struct {
		off   uint64
		found bool
	}{{15 * 4096, true}, {15*4096 + 1, false}, {1 << 40, false}} {
		o := model.Op{Code: model.Write, Off: c.off, Len: 4096}
		err := new(Core).checkCause(o, unix.EFBIG, disk)
		if (err != nil) != c.found {
			t.Errorf("EFBIG at %d: %v, want an error: %t", c.off, err, c.found)
		}
	}
}
