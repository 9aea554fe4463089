package explore

import (
	"fmt"

	"fsward/explore/ramdisk"
)

// A Component is one layer of storage: a file system, a RAID, a database. Its methods set it up on what it stands on, which is ready
// then. A command that fails is returned as an error; what that means is up to the explorer: before a crash that it cannot check,
// after it that recovery failed.
type Component interface {
	// Path is what stands on it uses: a device or a directory.
	Path() string
	// Children are what it stands on.
	Children() []Component

	Init(e *Env) error    // makes it, once: mkfs
	Mount(e *Env) error   // readies it for use
	Unmount(e *Env) error // forgets all that is in memory
	Recover(e *Env) error // repairs it after a crash, before Mount
	// Threads returns the process IDs of the kernel threads that work for it, while it is mounted.
	Threads(e *Env) ([]uint32, error)
}

// A Verifier is a Component with a program of its own that looks at all that it holds.
type Verifier interface {
	// Verify is called while the component is unmounted and what it stands on is ready; it changes nothing.
	Verify(e *Env) error
}

// Node is the part that components have in common. They embed it, and have the methods that they do not need from it.
type Node struct {
	At string      // what Path returns
	On []Component // what it stands on
}

// Path returns n.At.
func (n *Node) Path() string { return n.At }

// Children returns n.On.
func (n *Node) Children() []Component { return n.On }

// Init does nothing.
func (n *Node) Init(*Env) error { return nil }

// Mount does nothing.
func (n *Node) Mount(*Env) error { return nil }

// Unmount does nothing.
func (n *Node) Unmount(*Env) error { return nil }

// Recover does nothing.
func (n *Node) Recover(*Env) error { return nil }

// Threads returns none.
func (n *Node) Threads(*Env) ([]uint32, error) { return nil, nil }

// A Disk is what is at the bottom of a stack: a RAM disk of fsw_ramdisk. The explorer makes it, and takes and puts back what it
// holds.
type Disk struct {
	Node
	Number uint32 // 0 to ramdisk.MaxDisks-1
	Bytes  uint64 // a multiple of ramdisk.PageSize
	// Guarded: a guard stands before the disk (Config.Guard). What it refuses fails in the machine, and is an error.
	Guarded bool
}

// RAMDisk returns RAM disk number n, of so many bytes. Crash disks are made of number n, too.
func RAMDisk(n uint32, bytes uint64) *Disk {
	return &Disk{Node: Node{At: ramdisk.Path(n)}, Number: n, Bytes: bytes}
}

func (d *Disk) check() error {
	if d.Number >= ramdisk.MaxDisks || d.Bytes == 0 || d.Bytes%ramdisk.PageSize != 0 || d.Bytes > ramdisk.MaxBytes {
		return fmt.Errorf("RAM disk %d of %d bytes: there are disks 0 to %d of multiples of %d bytes", d.Number, d.Bytes, ramdisk.MaxDisks-1,
			ramdisk.PageSize)
	}
	return nil
}
