package explore

import (
	"fmt"

	"fsward/explore/ramdisk"
)

// A Component is one layer of storage: a file system, a RAID array, a database. When its methods
// are called, its children are ready. A method returns an error if a command fails. The explorer
// decides what the error means: before a crash, the state cannot be checked; after a crash, the
// recovery failed.
type Component interface {
	// Path returns the device or the directory that the layer above uses.
	Path() string
	// Children returns the components that this one stands on.
	Children() []Component

	Init(e *Env) error    // makes it, once: mkfs
	Mount(e *Env) error   // makes it ready for use
	Unmount(e *Env) error // removes all its state from memory
	Recover(e *Env) error // repairs it after a crash, before Mount
	// Threads returns the process IDs of the kernel threads that serve the mounted component.
	Threads(e *Env) ([]uint32, error)
}

// A Verifier is a Component with a program that verifies everything that it holds, such as fsck.
type Verifier interface {
	// Verify is called while the component is unmounted and its children are ready. It changes
	// nothing.
	Verify(e *Env) error
}

// A Node has the fields that components share, and methods that do nothing. Components embed it.
type Node struct {
	At string      // what Path returns
	On []Component // what Children returns
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

// A Disk is a RAM disk of fsw_ramdisk at the bottom of a stack. The explorer makes it, and saves
// and restores its contents.
type Disk struct {
	Node
	Number uint32 // 0 to ramdisk.MaxDisks-1
	Bytes  uint64 // a multiple of ramdisk.PageSize, at most ramdisk.MaxBytes
	// Guarded puts Config.Guard before the disk. A request that the guard refuses fails in the
	// machine, and the explorer reports it as a failure.
	Guarded bool
}

// RAMDisk returns RAM disk number n with a size in bytes. The explorer writes crash states to the
// same disk.
func RAMDisk(n uint32, bytes uint64) *Disk {
	return &Disk{Node: Node{At: ramdisk.Path(n)}, Number: n, Bytes: bytes}
}

func (d *Disk) check() error {
	if d.Number >= ramdisk.MaxDisks || d.Bytes == 0 || d.Bytes%ramdisk.PageSize != 0 ||
		d.Bytes > ramdisk.MaxBytes {
		return fmt.Errorf("RAM disk %d of %d bytes: the number must be 0 to %d, "+
			"and the size a multiple of %d bytes, at most %d",
			d.Number, d.Bytes, ramdisk.MaxDisks-1, ramdisk.PageSize, uint64(ramdisk.MaxBytes))
	}
	return nil
}
