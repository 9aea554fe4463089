package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"fsward/hostd/memory"
)

// memoryFlags are the flags that bound the memory of a guard.
type memoryFlags struct{ disk, reserve string }

// addDisk adds the flag for the memory of a disk. vm run gives it another name, because --memory is
// the guest's memory there.
func (f *memoryFlags) addDisk(c *cobra.Command, name string) {
	c.Flags().StringVar(&f.disk, name, "256M", "use at most `BYTES` of memory for each disk")
}

// addReserve adds the flag for the memory that the disks share.
func (f *memoryFlags) addReserve(c *cobra.Command) {
	c.Flags().StringVar(&f.reserve, "reserve", "768M",
		"let all disks share `BYTES` of memory, for large commits and the check of the "+
			"baseline; 0 for none")
}

// limits reads the flags.
func (f *memoryFlags) limits() (m memory.Limits, err error) {
	if m.PerDisk, err = memoryFlag(f.disk); err != nil {
		return m, err
	}
	if m.Reserve, err = parseBytes(f.reserve); err != nil {
		return m, fmt.Errorf("--reserve: %w", err)
	}
	m.NoReserve = m.Reserve == 0
	return m, nil
}

// memoryFlag reads the memory for a disk, in bytes.
func memoryFlag(text string) (bytes uint64, err error) {
	if bytes, err = parseBytes(text); err == nil && bytes < memory.Min {
		err = fmt.Errorf("%s is less than %d MiB", text, memory.Min>>20)
	}
	if err != nil {
		return 0, fmt.Errorf("the memory for a disk: %w", err)
	}
	return bytes, nil
}
