// Package guest runs a guest for the explorer. Start boots it and waits for its agent. The guest
// performs commands and lists of operations, and logs the bios of its RAM disks. A checkpoint saves
// its memory and disks together, and Restore returns to it. A watcher detects that the guest has
// panicked, hangs or has ended; every call then fails with a Failure, which holds the last lines of
// the console.
//
// The package boots machines through the interface Hypervisor. Package explore/host implements it
// with libvirt.
//
// Start reading at Start.
package guest
