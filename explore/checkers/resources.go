package checkers

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// resourceErrors are errors that any operation may return when memory, space or the disk fails. A
// file system that has gone read-only because of that returns EROFS.
var resourceErrors = []unix.Errno{
	unix.ENOMEM, unix.ENOSPC, unix.EIO, unix.EDQUOT, unix.EROFS, unix.EUCLEAN, unix.EFAULT,
}

// isResourceError reports whether any operation with a code may return an error when memory, space
// or the disk fails. F2FS returns E2BIG if there is no room for one more attribute
// (__f2fs_setxattr in fs/f2fs/xattr.c), where setxattr(2) says ENOSPC. exFAT gives EFBIG for a file
// that would be larger than the disk (exfat_read_boot_sector sets s_maxbytes).
func isResourceError(code model.Code, errno unix.Errno) bool {
	return slices.Contains(resourceErrors, errno) || code == model.Setxattr && errno == unix.E2BIG ||
		errno == unix.EFBIG
}

// minSymlinkMax is _POSIX_SYMLINK_MAX: each file system takes symbolic links with so long a target.
const minSymlinkMax = 255

// isLongTarget reports whether an operation made a symbolic link with a target that is longer than
// the file system has to take, and got the error for that (POSIX, symlink). That of UDF has to fit
// into a block, which may have 512 bytes (udf_symlink).
func isLongTarget(o model.Op, errno unix.Errno) bool {
	return o.Code == model.Symlink && errno == unix.ENAMETOOLONG && len(o.To) > minSymlinkMax
}

// minLinkMax is _POSIX_LINK_MAX: each file system gives a file so many names.
const minLinkMax = 8

// isLinkLimit reports whether a file got no further name, because it has as many as the file system
// allows (link(2), EMLINK).
func isLinkLimit(f *model.FS, o model.Op, errno unix.Errno) bool {
	return o.Code == model.Link && errno == unix.EMLINK && f.Links(o.Path) >= minLinkMax
}

// isRefusedMode reports whether a file system without modes refused one. HFS refuses those that it
// cannot store (hfs_inode_setattr). FAT accepts them, and stores nothing (fat_setattr).
func isRefusedMode(p model.Promises, o model.Op, errno unix.Errno) bool {
	return o.Code == model.Chmod && errno == unix.EPERM && p.NoModes
}

// isUnknownIoctl reports whether an ioctl that the file system does not know failed with EINVAL, in
// place of ENOTTY: "EINVAL op or argp is not valid." (ioctl(2)). ntfs-3g does that.
func isUnknownIoctl(want, is unix.Errno) bool { return want == unix.ENOTTY && is == unix.EINVAL }

// storageErrors are the resource errors that say that the storage failed, or that the file system
// has found itself corrupt.
var storageErrors = []unix.Errno{unix.EIO, unix.EROFS, unix.EUCLEAN}

// enoughBytes and enoughInodes are more than what a step can need: with so many free ones, there
// is space.
const (
	enoughBytes  = 4 << 20
	enoughInodes = 64
)

// checkCause returns a failure if an operation gave a resource error for which there is no cause:
// the model does not give it, nothing was made to fail, and the file system has space, of which
// space gives how much is free.
func (c *Core) checkCause(o model.Op, errno unix.Errno, space func() (statfs, error)) error {
	switch {
	case c.faulty || c.Limits.Faults:
	case errno == unix.EROFS && c.fs.Clone().Apply(o).Errno == errno:
	case slices.Contains(storageErrors, errno):
		return explore.Failuref("error without a cause", "%v gives %s, and nothing failed", o,
			name(errno))
	case errno == unix.EFBIG:
		return checkLimit(o, space)
	case errno == unix.ENOSPC && c.lacks.excuses(o):
	case o.Code == model.Setxattr: // attributes have a space of their own, which may be full
	case errno == unix.ENOSPC, errno == unix.EDQUOT:
		return c.checkSpace(o, errno, space)
	}
	return nil
}

// A statfs is what statfs(2) returns.
type statfs struct {
	blocks, free, available, size uint64 // of the data; size in bytes
	inodes, freeInodes            uint64
}

// statfsOf calls statfs(2) for a path. Without an answer it returns the zero value.
func statfsOf(e *explore.Env, path string) (s statfs, err error) {
	exit, err := e.Run("stat", "-f", "-c", "%b %f %a %S %c %d", path)
	if err != nil || exit.Code != 0 {
		return statfs{}, err
	}
	n, _ := fmt.Sscan(string(exit.Stdout), &s.blocks, &s.free, &s.available, &s.size, &s.inodes,
		&s.freeInodes)
	if n < 6 {
		return statfs{}, nil
	}
	return s, nil
}

// spaceOf returns a function that asks how much is free, once, when the first operation of a batch
// found none.
func spaceOf(e *explore.Env, path string) func() (statfs, error) {
	return sync.OnceValues(func() (statfs, error) { return statfsOf(e, path) })
}

// checkSpace returns a failure if an operation found no space, and the file system has some.
func (c *Core) checkSpace(o model.Op, errno unix.Errno, space func() (statfs, error)) error {
	c.ranOut = true
	s, err := space()
	bytes := s.available * s.size
	if err != nil || s == (statfs{}) || bytes < enoughBytes ||
		makesName(o) && s.inodes > 0 && s.freeInodes < enoughInodes {
		return err
	}
	return explore.Failuref("error without a cause",
		"%v gives %s, and %d bytes and %d inodes are free", o, name(errno), bytes, s.freeInodes)
}

// checkLimit returns a failure if an operation gave EFBIG, and the file would fit on the disk.
func checkLimit(o model.Op, space func() (statfs, error)) error {
	s, err := space()
	if err != nil || o.Off+o.Len > s.blocks*s.size {
		return err
	}
	return explore.Failuref("error without a cause",
		"%v gives EFBIG, and the file system has %d bytes", o, s.blocks*s.size)
}

// checkCounts returns a failure if more is free than there is in the file system mounted at a path.
func checkCounts(e *explore.Env, at string) error {
	s, err := statfsOf(e, at)
	if err != nil || max(s.free, s.available) <= s.blocks && s.freeInodes <= s.inodes {
		return err
	}
	return &explore.Failure{Kind: "statfs", Property: explore.Recovered, Text: fmt.Sprintf(
		"%d blocks are free, %d available, of %d; %d inodes are free, of %d", s.free, s.available,
		s.blocks, s.freeInodes, s.inodes)}
}
