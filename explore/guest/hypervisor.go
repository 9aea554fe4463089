package guest

import (
	"context"
	"net"
	"time"

	"fsward/blocktap"
)

// A Machine describes a machine that a hypervisor boots.
type Machine struct {
	Name      string
	Kernel    string // path of a bzImage
	Initramfs string // path
	Cmdline   string
	MemoryMiB uint
	NBDSocket string       // path of the NBD socket of all disks
	Exports   []string     // NBD export and serial number of each disk: vda, vdb, …
	Console   string       // path of the file that receives the console's output
	OnLine    func(string) // called with each line of the console; must return soon
}

// A Hypervisor boots machines.
type Hypervisor interface {
	Boot(ctx context.Context, m Machine) (Domain, error)
}

// A Domain is a running machine.
type Domain interface {
	Agent() net.Conn                // the port of fsagent
	Gone() <-chan struct{}          // closed when the machine has ended
	End(ctx context.Context) string // after Gone: how it ended
	Suspend() error                 // stops the processors
	Resume() error
	// SaveState saves the memory and devices of a suspended domain under a name.
	SaveState(ctx context.Context, name string) error
	// LoadState restores the state with a name into a suspended domain.
	LoadState(ctx context.Context, name string) error
	// DropState deletes the state with a name.
	DropState(ctx context.Context, name string) error
	// Starved returns how long since the boot the hypervisor, and the guest's processor, were ready
	// to run and had no processor of the host.
	Starved() (hypervisor, processor time.Duration, err error)
	// Close ends the machine.
	Close() error
}

// A Guard receives the writes of the guest to some of its disks, and follows the contents of these
// disks. Disks of hostd/guard implements it. It must answer every write: a write that it held would
// delay every checkpoint.
type Guard interface {
	// Device returns the guarded device for a disk of Config.Disks, by the name of the disk. It
	// returns nil if the disk is not guarded.
	Device(disk string) *blocktap.Device
	// Switched tells the guard that all disks were restored to a checkpoint. No request is in
	// progress.
	Switched() error
}
