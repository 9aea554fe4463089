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
	"fsward/explore/ubd"
	"fsward/explore/uml"
	"fsward/repair/sandbox"
)

// Config describes a machine.
type Config struct {
	Initramfs string // path: explorer.cpio.zst of a guest, and more archives after it
	MemoryMiB uint
	// DiskBytes bounds the bytes of all disks, with what is written to them.
	DiskBytes uint64
	// LogMiB is the size of the log of the disks. 0: they have none, so that the machine can recover
	// crash states and not explore.
	LogMiB uint
}

// A Machine is a System without modules of fsward: the library that it runs with logs its disks. It
// boots with the first request after its disks were made, and takes a second or two. A checkpoint
// stands for a machine that has just booted: nothing may be mounted when one is made. It must not
// be used concurrently.
type Machine struct {
	cfg      Config
	kernel   *kernel // nil: none runs
	box      *sandbox.Box
	dir      string // of the kernel's library, on the host
	listener net.Listener
	area     ubd.Area // shared with the kernels
	log      *ubd.Log // of the disks; nil: Config.LogMiB is 0
	disks    map[uint32]*disk
	written  *uml.Written // by the kernels; nil until the first one boots
	failed   error        // of the kernel; nil: it works, or there is none
	requests int          // to the kernel
}

var (
	_ explore.Marker   = (*Machine)(nil)
	_ explore.Rebooter = (*Machine)(nil)
)

// errNoLog means that the disks have no log.
var errNoLog = fmt.Errorf("%w: this user-mode Linux logs no disks", errors.ErrUnsupported)

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
	paths := make([]string, ramdisk.MaxDisks)
	for n, d := range m.disks {
		if d.from == nil {
			return fmt.Errorf("disk %d has no snapshot yet, and user-mode Linux would change it", n)
		}
		paths[n] = m.box.Path(diskName(n))
	}
	m.written, err = uml.NewWritten(m.box.Path(writtenName), paths...)
	return err
}

// unfollow ends follow.
func (m *Machine) unfollow() error {
	if m.written == nil {
		return nil
	}
	for n, d := range m.disks {
		d.note(m.written.Take(int(n)))
	}
	w := m.written
	m.written = nil
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
	err = m.unfollow()
	delete(m.disks, n)
	m.area.SetLogged(n, false)
	return errors.Join(err, d.close(), os.Remove(d.file.Name()))
}

// disk returns a disk, after it has noted what the kernel has written to it.
func (m *Machine) disk(n uint32) (*disk, error) {
	d := m.disks[n]
	if d == nil {
		return nil, fmt.Errorf("there is no disk %d", n)
	}
	if m.written != nil {
		d.note(m.written.Take(int(n)))
	}
	return d, nil
}

// Snapshot keeps the contents of a disk, on which nothing is mounted.
func (m *Machine) Snapshot(_ context.Context, n uint32, name string) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	return d.snapshot(name)
}

// maxRequests is after how many requests a kernel is replaced. Kernels leak memory with mounts, and
// one that has none left would look like a failure of a crash state.
const maxRequests = 20_000

// worn reports whether the kernel has performed maxRequests.
func (m *Machine) worn() bool { return m.requests > maxRequests }

// Worn reports whether the kernel of a machine with logs has performed many requests.
func (m *Machine) Worn() bool { return m.log != nil && m.worn() }

// Restore restores the snapshot of a disk, on which nothing is mounted.
func (m *Machine) Restore(_ context.Context, n uint32, name string) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	if m.log == nil && m.worn() {
		m.stop()
	}
	return d.restore(name)
}

// WritePages writes pages to a disk, on which nothing is mounted.
func (m *Machine) WritePages(_ context.Context, n uint32, pages []agent.Page) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	return d.write(pages)
}

// Drop removes a snapshot that was not the last to be made or restored.
func (m *Machine) Drop(_ context.Context, n uint32, name string) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	return d.drop(name)
}

// ReadDisk writes the contents of a disk, on which nothing is mounted, to w, which has zeros.
func (m *Machine) ReadDisk(_ context.Context, n uint32, _ uint64, w io.WriterAt) error {
	d, err := m.disk(n)
	if err != nil {
		return err
	}
	return d.read(w)
}

// Log switches the log of a disk.
func (m *Machine) Log(_ context.Context, n uint32, on bool) error {
	if m.log == nil {
		return errNoLog
	}
	if _, err := m.disk(n); err != nil {
		return err
	}
	m.area.SetLogged(n, on)
	return nil
}

// Mark adds a mark to the log.
func (m *Machine) Mark(_ context.Context, text string) error {
	if m.log == nil {
		return errNoLog
	}
	return m.area.Mark(text)
}

// MarkOp returns the operation that adds a mark to the log.
func (m *Machine) MarkOp(text string) agent.Op { return agent.DiskMark(text) }

// Records takes all records from the log. A request that the kernel's driver has not performed yet
// comes with a later call.
func (m *Machine) Records(context.Context) ([]ramdisk.Record, error) {
	if m.log == nil {
		return nil, errNoLog
	}
	return m.log.Take()
}

// booted is a checkpoint.
type booted struct{}

// Save makes a checkpoint of a machine on which nothing is mounted.
func (m *Machine) Save(context.Context) (explore.Checkpoint, error) { return booted{}, nil }

// Load ends the kernel. The next request boots another one, with the same disks. As at the
// checkpoint, no disk is logged, nothing is in the log, and no request fails.
func (m *Machine) Load(context.Context, explore.Checkpoint) error {
	m.stop()
	m.failed = nil
	m.area.Clear()
	return nil
}

// Forget does nothing.
func (m *Machine) Forget(context.Context, explore.Checkpoint) error { return nil }
