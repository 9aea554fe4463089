package usermode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
	"fsward/explore/uml"
	"fsward/repair/sandbox"
)

// Config describes a machine.
type Config struct {
	Initramfs string // path: explorer.cpio.zst of a guest, and more archives after it
	MemoryMiB uint
	// DiskBytes bounds the bytes of all disks, with what is written to them.
	DiskBytes uint64
}

// A Machine is a System without logs: it can recover crash states. It boots with the first request
// after its disks were made, and takes a second or two. A checkpoint stands for a machine that has
// just booted: nothing may be mounted when one is made. It must not be used concurrently.
type Machine struct {
	cfg      Config
	kernel   *kernel // nil: none runs
	box      *sandbox.Box
	dir      string // of the kernel's library, on the host
	listener net.Listener
	disks    map[uint32]*disk
	numbers  []uint32     // of the disks, in the order of written
	written  *uml.Written // by the kernels; nil until the first one boots
	failed   error        // of the kernel; nil: it works, or there is none
	requests int          // to the kernel
}

var _ explore.System = (*Machine)(nil)

// errNoLog means that something needs a module of fsward.
var errNoLog = fmt.Errorf("%w in user-mode Linux, which loads no module of fsward",
	errors.ErrUnsupported)

// Run runs a command: see agent.Client.Run.
func (m *Machine) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	if err := m.ready(ctx); err != nil {
		return agent.Exit{}, err
	}
	exit, err := m.kernel.client.Run(ctx, c)
	return exit, m.cause(ctx, err, c.Timeout)
}

// Do performs a batch: see agent.Client.Do. If it does not end in time, the machine has failed.
func (m *Machine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if err := m.ready(ctx); err != nil {
		return agent.Done{}, err
	}
	done, err := m.kernel.client.Do(ctx, b)
	return done, m.cause(ctx, err, b.Timeout)
}

// ready boots the kernel if none runs.
func (m *Machine) ready(ctx context.Context) error {
	if m.failed != nil {
		return m.failed
	}
	m.requests++
	if m.kernel != nil {
		return nil
	}
	if m.written == nil {
		if err := m.follow(); err != nil {
			return err
		}
	}
	return m.boot(ctx)
}

// follow begins to note what the kernels write to the disks.
func (m *Machine) follow() (err error) {
	var paths []string
	for n, d := range m.disks {
		if d.kept == "" {
			return fmt.Errorf("disk %d has no snapshot yet, and user-mode Linux would change it", n)
		}
		m.numbers, paths = append(m.numbers, n), append(paths, m.box.Path(diskName(n)))
	}
	m.written, err = uml.NewWritten(m.box.Path(writtenName), paths...)
	return err
}

// unfollow ends follow.
func (m *Machine) unfollow() error {
	if m.written == nil {
		return nil
	}
	for i, n := range m.numbers {
		for _, page := range m.written.Take(i) {
			if d := m.disks[n]; d != nil {
				d.written[page] = true
			}
		}
	}
	w := m.written
	m.written, m.numbers = nil, nil
	return w.Close()
}

// stop ends the kernel, if one runs.
func (m *Machine) stop() {
	if m.kernel != nil {
		m.kernel.end(m.box, false)
		m.kernel = nil
	}
}

// cause returns what a request failed of. A kernel that has ended, or that does not answer, has a
// *guest.Failure; it is killed. So is one whose request the caller gave up.
func (m *Machine) cause(ctx context.Context, err error, limit time.Duration) error {
	var remote *agent.RemoteError
	if err == nil || errors.As(err, &remote) {
		return err
	}
	if ctx.Err() != nil {
		m.stop()
		m.failed = err
		return err
	}
	ended, output := m.kernel.end(m.box, errors.Is(err, agent.ErrClosed))
	f := &guest.Failure{Kind: guest.Hung, Text: fmt.Sprintf("no answer within %v", limit),
		Console: lastLines(output)}
	if i := slices.IndexFunc(f.Console, isPanic); i >= 0 {
		f.Kind, f.Text = guest.Panicked, f.Console[i]
	} else if ended {
		f.Kind, f.Text = guest.Gone, "the kernel's process has ended"
	}
	m.kernel, m.failed = nil, f
	return f
}

// isPanic reports whether a line of the console reports a panic.
func isPanic(line string) bool { return strings.Contains(line, "Kernel panic - not syncing") }

// MakeDisk makes a disk of zeros. It fails between the first request and the removal of a disk.
func (m *Machine) MakeDisk(_ context.Context, n uint32, bytes uint64) (err error) {
	switch {
	case m.written != nil:
		return errors.New("user-mode Linux runs already, without this disk")
	case n >= ramdisk.MaxDisks || m.disks[n] != nil:
		return fmt.Errorf("there is a disk %d, or there cannot be one", n)
	}
	m.disks[n], err = newDisk(m.box.Path(diskName(n)), bytes)
	return err
}

// RemoveDisk removes a disk. It ends the kernel; the next request boots another one.
func (m *Machine) RemoveDisk(_ context.Context, n uint32) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	m.stop()
	delete(m.disks, n)
	return errors.Join(m.unfollow(), d.close(), os.Remove(d.file.Name()))
}

// disk returns a disk.
func (m *Machine) disk(n uint32) (*disk, error) {
	d := m.disks[n]
	if d == nil {
		return nil, fmt.Errorf("there is no disk %d", n)
	}
	return d, nil
}

// Snapshot keeps the contents of a disk. Each disk has one snapshot.
func (m *Machine) Snapshot(_ context.Context, n uint32, name string) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	if d.kept != "" {
		return fmt.Errorf("%w: a second snapshot in user-mode Linux", errors.ErrUnsupported)
	}
	return d.snapshot(name)
}

// maxRequests is after how many requests a kernel is replaced. Kernels leak memory with mounts, and
// one that has none left would look like a failure of a crash state.
const maxRequests = 20_000

// Restore restores the snapshot of a disk, on which nothing is mounted.
func (m *Machine) Restore(_ context.Context, n uint32, name string) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	if d.kept != name {
		return fmt.Errorf("disk %d has no snapshot %q", n, name)
	}
	if m.requests > maxRequests {
		m.stop()
	}
	if m.written == nil {
		return d.restore(nil)
	}
	return d.restore(m.written.Take(slices.Index(m.numbers, n)))
}

// WritePages writes pages to a disk, on which nothing is mounted.
func (m *Machine) WritePages(_ context.Context, n uint32, pages []agent.Page) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	return d.write(pages)
}

// Drop is not supported.
func (m *Machine) Drop(context.Context, uint32, string) error { return errors.ErrUnsupported }

// ReadDisk is not supported.
func (m *Machine) ReadDisk(context.Context, uint32, uint64, io.WriterAt) error {
	return errors.ErrUnsupported
}

// Log is not supported.
func (m *Machine) Log(context.Context, uint32, bool) error { return errNoLog }

// Mark is not supported.
func (m *Machine) Mark(context.Context, string) error { return errNoLog }

// Records is not supported.
func (m *Machine) Records(context.Context) ([]ramdisk.Record, error) { return nil, errNoLog }

// Save makes a checkpoint of a machine on which nothing is mounted.
func (m *Machine) Save(context.Context) (explore.Checkpoint, error) { return nil, nil }

// Load ends the kernel. The next request boots another one, with the same disks.
func (m *Machine) Load(context.Context, explore.Checkpoint) error {
	m.stop()
	m.failed = nil
	return nil
}

// Forget does nothing.
func (m *Machine) Forget(context.Context, explore.Checkpoint) error { return nil }
