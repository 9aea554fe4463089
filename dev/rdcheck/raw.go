package main

import (
	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// direct opens a disk with O_DIRECT, which bypasses the page cache.
func direct(d *ramdisk.Disk) (int, error) {
	return unix.Open(d.Path(), unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
}

// alignedPage returns a new page for O_DIRECT.
func alignedPage() []byte { return aligned(ramdisk.PageSize) }

// aligned returns n bytes of new memory for O_DIRECT: mmap aligns them to pages.
func aligned(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err) // the guest is out of memory
	}
	return b
}
