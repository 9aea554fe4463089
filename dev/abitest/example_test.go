package abitest_test

import (
	"testing"

	"fsward/dev/abitest"
	"fsward/explore/ramdisk"
)

// A test compares a constant and the layout of a struct in Go with the header of the kernel module.
// It fails if the two differ. It needs a C compiler.
func ExampleNew() {
	test := func(t *testing.T) {
		h := abitest.New(t, "../../ramdisk/fsw_ramdisk.h", "fsw_rd_")
		h.Is("FSW_RD_PAGE", ramdisk.PageSize)
		h.Is("sizeof(struct fsw_rd_mark)", 8+ramdisk.MaxText)
		h.Offsets(t, "mark", "len 0 pad 4 text 8")
		h.Check(t)
	}
	_ = test
}
