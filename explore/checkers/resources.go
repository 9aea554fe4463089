package checkers

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// resourceErrors are errors that any operation may return when memory, space or the disk fails. A
// file system that has gone read-only because of that returns EROFS.
var resourceErrors = []unix.Errno{
	unix.ENOMEM, unix.ENOSPC, unix.EIO, unix.EDQUOT, unix.EROFS, unix.EUCLEAN, unix.EFAULT,
}

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
// nothing was made to fail, and the file system has space.
func (c *Core) checkCause(e *explore.Env, o model.Op, errno unix.Errno) error {
	switch {
	case c.faulty || c.Limits.Faults:
	case slices.Contains(storageErrors, errno):
		return explore.Failuref("error without a cause", "%v gives %s, and nothing failed", o,
			name(errno))
	case o.Code == model.Setxattr: // attributes have a space of their own, which may be full
	case errno == unix.ENOSPC, errno == unix.EDQUOT:
		return c.checkSpace(e, o, errno)
	}
	return nil
}

// checkSpace returns a failure if an operation found no space, and the file system has some.
func (c *Core) checkSpace(e *explore.Env, o model.Op, errno unix.Errno) error {
	exit, err := e.Run("stat", "-f", "-c", "%a %S %c %d", c.At)
	if err != nil || exit.Code != 0 {
		return err
	}
	var blocks, size, inodes, free uint64
	n, _ := fmt.Sscan(string(exit.Stdout), &blocks, &size, &inodes, &free)
	if full := blocks*size < enoughBytes || inodes > 0 && free < enoughInodes; n != 4 || full {
		return nil
	}
	return explore.Failuref("error without a cause",
		"%v gives %s, and %d bytes and %d inodes are free", o, name(errno), blocks*size, free)
}
