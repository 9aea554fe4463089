package blocktap

import (
	"errors"
	"syscall"
)

// ErrRefused is the error of a write that the hook refused. Transports report it as EIO.
var ErrRefused = errors.New("refused: the write would violate an invariant")

// Errors of invalid requests.
var (
	ErrRange     = errors.New("outside the disk")
	ErrUnaligned = errors.New("not a multiple of 512 bytes")
	ErrReadOnly  = errors.New("the disk is read-only")
)

// Errno returns the error number with which a transport reports err to the guest: EINVAL for an
// invalid request, EROFS for a read-only disk, ENOSPC for a full one, and EIO for all other errors,
// which include refused writes. It returns 0 for nil.
func Errno(err error) syscall.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrRange), errors.Is(err, ErrUnaligned):
		return syscall.EINVAL
	case errors.Is(err, ErrReadOnly):
		return syscall.EROFS
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return syscall.ENOSPC
	default:
		return syscall.EIO
	}
}
