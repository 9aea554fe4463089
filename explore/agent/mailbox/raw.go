package mailbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawTransfer calls read(2) or write(2) for one byte.
func rawTransfer(call uintptr, fd int, b *[1]byte) (uintptr, unix.Errno) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(b)), 1)
	return n, errno
}
