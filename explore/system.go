package explore

import (
	"context"
	"io"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A System is the machine in which storage is checked: a guest, or exploretest.System in tests. Its
// errors are failures of the machine, such as *guest.Failure. The request after the one that failed
// may return the error.
type System interface {
	// Run and Do are those of agent.Client.
	Run(ctx context.Context, c agent.Command) (agent.Exit, error)
	Do(ctx context.Context, b agent.Batch) (agent.Done, error)

	// MakeDisk makes a RAM disk of zeros with a size in bytes.
	MakeDisk(ctx context.Context, disk uint32, bytes uint64) error
	RemoveDisk(ctx context.Context, disk uint32) error
	// Snapshot keeps the contents of a disk under a name. Restore restores them, and Drop drops them.
	Snapshot(ctx context.Context, disk uint32, name string) error
	Restore(ctx context.Context, disk uint32, name string) error
	Drop(ctx context.Context, disk uint32, name string) error
	// ReadDisk writes the contents of a disk to w, which has only zeros. bytes is the disk's size.
	ReadDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error
	// WritePages writes pages to a disk.
	WritePages(ctx context.Context, disk uint32, pages []agent.Page) error

	// Log switches the log of a disk's bios on or off.
	Log(ctx context.Context, disk uint32, on bool) error
	// Mark adds a text to the common log of all disks.
	Mark(ctx context.Context, text string) error
	// Records removes and returns all records of the log. The caller owns their Data.
	Records(ctx context.Context) ([]ramdisk.Record, error)

	// Save makes a checkpoint of the whole machine, Load restores it, and Forget drops it. Load also
	// restores a machine that has failed. A System without checkpoints returns
	// errors.ErrUnsupported.
	Save(ctx context.Context) (Checkpoint, error)
	Load(ctx context.Context, c Checkpoint) error
	Forget(ctx context.Context, c Checkpoint) error
}

// A WriteSetSystem is a System that logs the write set of its kernel.
type WriteSetSystem interface {
	System
	// LogWriteSet switches the log of the blocks of a disk that the kernel marks dirty on or off.
	LogWriteSet(ctx context.Context, disk uint32, on bool) error
	// WriteSet removes and returns the blocks in the log, in the order in which they were marked.
	// The caller owns their Data.
	WriteSet(ctx context.Context) ([]crash.Block, error)
	// EndWriteSet releases the resources of the log. It is called after the last WriteSet.
	EndWriteSet(ctx context.Context) error
}

// A Checkpoint is a saved state of a whole machine. Its type is private to the System.
type Checkpoint any
