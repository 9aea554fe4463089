package main

import (
	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// direct opens a disk beside the kernel's cache.
func direct(d *ramdisk.Disk) (int, error) {
	return unix.Open(d.Path(), unix.O_RDWR|unix.O_DIRECT|unix.O_CLOEXEC, 0)
}

// alignedPage is a page for O_DIRECT: what mmap gives lies at the beginning of one.
func alignedPage() []byte { return aligned(ramdisk.PageSize) }

func aligned(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err) // a guest without a page of memory
	}
	return b
}
