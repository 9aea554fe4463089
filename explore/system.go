package explore

import (
	"context"
	"io"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A System is the machine that storage is checked in: a guest; without one, exploretest.System. Errors are failures of the machine, such
// as *guest.Failure. One may come with the request that follows what has failed.
type System interface {
	// Run and Do are those of agent.Client.
	Run(ctx context.Context, c agent.Command) (agent.Exit, error)
	Do(ctx context.Context, b agent.Batch) (agent.Done, error)

	// MakeDisk makes a RAM disk of zeros.
	MakeDisk(ctx context.Context, disk uint32, bytes uint64) error
	RemoveDisk(ctx context.Context, disk uint32) error
	// Snapshot names what a disk holds, Restore puts it back, and Drop forgets it.
	Snapshot(ctx context.Context, disk uint32, name string) error
	Restore(ctx context.Context, disk uint32, name string) error
	Drop(ctx context.Context, disk uint32, name string) error
	// ReadDisk writes what a disk of so many bytes holds to w, which is of zeros; WritePages puts pages into it.
	ReadDisk(ctx context.Context, disk uint32, bytes uint64, w io.WriterAt) error
	WritePages(ctx context.Context, disk uint32, pages []agent.Page) error

	// Log switches the log of a disk's bios. Mark puts a text into the log of all. Records takes all records out of it that there
	// are; their Data is the caller's.
	Log(ctx context.Context, disk uint32, on bool) error
	Mark(ctx context.Context, text string) error
	Records(ctx context.Context) ([]ramdisk.Record, error)

	// Save makes a checkpoint of the whole machine, and Load puts it back, also when the machine has failed; Forget gives one up.
	// A System that cannot returns errors.ErrUnsupported.
	Save(ctx context.Context) (Checkpoint, error)
	Load(ctx context.Context, c Checkpoint) error
	Forget(ctx context.Context, c Checkpoint) error
}

// A WriteSetSystem is a System that tells what its kernel could write at any moment.
type WriteSetSystem interface {
	System
	// LogWriteSet switches the log of the blocks of a disk that the kernel marks dirty. WriteSet takes out of it those that there are; they
	// come in the order of time, and their Data is the caller's. EndWriteSet ends what it takes to log them, after the last of them.
	LogWriteSet(ctx context.Context, disk uint32, on bool) error
	WriteSet(ctx context.Context) ([]crash.Block, error)
	EndWriteSet(ctx context.Context) error
}

// A Checkpoint is all of a machine at one moment. What it is only its System knows.
type Checkpoint any
