package ondisk

import (
	"fmt"

	"fsward/interp"
)

// Corrupt returns an error about the structure at a device address.
func Corrupt(addr uint64, format string, args ...any) error {
	return &interp.CorruptError{FS: "ext3", Addr: addr, Reason: fmt.Sprintf(format, args...)}
}
