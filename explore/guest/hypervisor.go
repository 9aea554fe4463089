// Package guest gives an explorer a guest: one call builds or finds what it boots from, boots it, and waits for the agent in it.
// The guest runs commands and lists of operations, its end is seen and told with what its console said last, and it is put
// back, memory and disks together, to where it was.
//
// Who boots it is behind an interface: hostd/vm does, and hostd ties the two together.
package guest

import (
	"context"
	"net"
	"time"

	"fsward/blocktap"
)

// A Machine is what a hypervisor is to boot.
type Machine struct {
	Name      string
	Kernel    string // path of a bzImage
	Initramfs string // path
	Cmdline   string
	MemoryMiB uint
	NBDSocket string       // of all disks; path
	Exports   []string     // NBD export and serial of each disk: vda, vdb, …
	Console   string       // path of the file that the console is written to
	OnLine    func(string) // is given each line of the console, and returns soon
}

// A Hypervisor boots machines.
type Hypervisor interface {
	Boot(ctx context.Context, m Machine) (Domain, error)
}

// A Domain is a machine that runs.
type Domain interface {
	Agent() net.Conn                // the port of fsagent
	Gone() <-chan struct{}          // closed when it has ended
	End(ctx context.Context) string // how, after Gone
	Suspend() error                 // stops the processors
	Resume() error
	// SaveState keeps memory and devices under a name; LoadState puts them back; DropState forgets them. The domain is suspended.
	SaveState(ctx context.Context, name string) error
	LoadState(ctx context.Context, name string) error
	DropState(ctx context.Context, name string) error
	// Starved is for how long in all the hypervisor, and the guest's processor, could not run because others did.
	Starved() (hypervisor, processor time.Duration, err error)
	Close() error // ends it
}

// A Guard stands between the guest and some of its disks, and knows what is on them: hostd's daemon does. It answers every
// write: one that it held would hold up each checkpoint.
type Guard interface {
	// Device is the guarded device over a disk of Config.Disks, by its name; nil if that is not guarded.
	Device(disk string) *blocktap.Device
	// Switched is told that all disks hold what they held at a checkpoint. No request is under way.
	Switched() error
}
