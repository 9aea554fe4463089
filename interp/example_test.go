package interp_test

import (
	"fmt"

	"fsward/interp"
)

// zeros is a disk of zeros, of that many bytes.
type zeros uint64

func (z zeros) Size() uint64 { return uint64(z) }

func (z zeros) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}

// The disks of a guest are one address space.
func ExampleSet() {
	set, err := interp.NewSet(zeros(1<<20), zeros(2<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	addr := interp.Address(1, 4096)
	disk, off := interp.Locate(addr)
	fmt.Println(len(set.Sizes()), "disks; byte", off, "of disk", disk)
	// Output: 2 disks; byte 4096 of disk 1
}

// A budget of 2 KiB borrows more memory from a pool that several disks share.
func ExampleMemoryBudget() {
	pool := interp.NewMemoryPool(32<<20, nil)
	budget := interp.NewMemoryBudget(2<<10, pool)
	fmt.Println(budget.Holds(1<<10), budget.Holds(20<<20), budget.Holds(64<<20))
	budget.Release()
	// Output: true true false
}
