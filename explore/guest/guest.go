package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/nbd"
	"fsward/explore/agent"
)

// Config describes a guest.
type Config struct {
	Name      string
	Files     Files
	Dir       string // existing folder for the NBD socket and the console's file; a short path
	MemoryMiB uint   // 0 selects 128
	LogMiB    uint   // size of the RAM disks' log; 0 selects 8
	Cmdline   string // more arguments of the kernel
	// Disks become vda, vdb, … Their names and serial numbers are disk0, disk1, …
	Disks []*Disk
	Guard Guard // of some of the disks; may be nil

	// Silence is how long the agent may stay silent before the guest counts as hanging. Time in which
	// the guest had no processor of the host does not count. 0 selects 800 ms. An emulated processor
	// on a busy host does not always answer within that time: see SetSilence.
	Silence time.Duration
}

// A Guest is a running guest. It is safe for concurrent use.
type Guest struct {
	cfg    Config
	domain Domain
	client *agent.Client
	tail   *tail
	hello  agent.Hello
	logger *zap.Logger

	silence atomic.Int64 // Config.Silence, a time.Duration

	server   *nbd.Server
	serving  chan error         // receives the error of server.Serve
	stop     context.CancelFunc // ends the watcher
	watching chan struct{}      // closed when the watcher has ended

	pinging sync.Mutex // held during a ping, and during a checkpoint

	mu      sync.Mutex
	epoch   uint64          // number of restores
	failure *Failure        // nil while the guest works
	life    context.Context // ends when the guest fails
	failed  context.CancelCauseFunc
	saved   uint64 // number of checkpoints so far
}

// bootArguments are the kernel's arguments in every guest. With panic=0 the kernel stops at a panic
// and does not reboot, so that the guest can be restored. The clock is acpi_pm, because QEMU
// restores it with a checkpoint; QEMU never sets an emulated time stamp counter back. The root is a
// ramfs, because a tmpfs would limit the initramfs to half of the memory. With norandmaps each
// process has the same addresses, so that an emulator can use its translation of the loader and
// the libraries again: docs/decisions/0105.
const bootArguments = "quiet panic=0 clocksource=acpi_pm tsc=unstable rootfstype=ramfs " +
	"norandmaps fsward.script=agent "

// Start boots a guest, waits until its agent has answered, and loads the module fsw_ramdisk.
func Start(ctx context.Context, hypervisor Hypervisor, cfg Config, log *zap.Logger) (g *Guest,
	err error) {
	if cfg.MemoryMiB == 0 {
		cfg.MemoryMiB = 128
	}
	if cfg.LogMiB == 0 {
		cfg.LogMiB = 8
	}
	if cfg.Silence == 0 {
		cfg.Silence = 800 * time.Millisecond
	}
	g = &Guest{cfg: cfg, tail: newTail(), logger: log.With(zap.String("guest", cfg.Name))}
	g.SetSilence(cfg.Silence)
	g.life, g.failed = context.WithCancelCause(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	m := Machine{
		Name:      cfg.Name,
		Kernel:    cfg.Files.Kernel,
		Initramfs: cfg.Files.Initramfs,
		Cmdline:   bootArguments + cfg.Cmdline,
		MemoryMiB: cfg.MemoryMiB,
		Console:   filepath.Join(cfg.Dir, cfg.Name+".console"),
		OnLine:    g.tail.add,
	}
	if len(cfg.Disks) > 0 {
		if err := g.serve(&m); err != nil {
			return g, err
		}
	}
	if g.domain, err = hypervisor.Boot(ctx, m); err != nil {
		return g, err
	}
	g.client = agent.NewClient(g.domain.Agent())
	watch, stop := context.WithCancel(context.Background())
	g.stop, g.watching = stop, make(chan struct{})
	// The agent does not answer pings until the guest has booted.
	booting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(g.watching)
		g.watchBoot(booting)
		g.watch(watch)
	}()
	if err := g.ready(ctx); err != nil {
		boot := &Failure{Kind: "boot", Text: "see its console", Console: g.tail.last()}
		return g, fmt.Errorf("the guest %s does not get ready: %w; %s", cfg.Name, err, boot.Error())
	}
	return g, nil
}

// watchBoot watches the guest without pings, until ctx ends or the guest fails.
func (g *Guest) watchBoot(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-g.domain.Gone():
		g.fail(0, &Failure{Kind: Gone, Text: g.domain.End(ctx)})
	case line := <-g.tail.panics:
		g.fail(0, &Failure{Kind: Panicked, Text: line})
	}
}

// ready waits for the agent and loads the module fsw_ramdisk.
func (g *Guest) ready(ctx context.Context) (err error) {
	ctx, cancel := g.whileAlive(ctx)
	defer cancel()
	if g.hello, err = g.client.Hello(ctx); err != nil {
		return err
	}
	load := []string{"insmod", "/fsward/fsw_ramdisk.ko", fmt.Sprintf("log_mib=%d", g.cfg.LogMiB)}
	e, err := g.client.Run(ctx, agent.Command{Args: load, Timeout: time.Minute})
	if err == nil && e.Code != 0 {
		err = fmt.Errorf("cannot load fsw_ramdisk: %s %s", e.Stderr, e.Kernel)
	}
	return err
}

// serve serves the disks by NBD, and enters them into m.
func (g *Guest) serve(m *Machine) error {
	m.NBDSocket = filepath.Join(g.cfg.Dir, g.cfg.Name+".nbd")
	var exports []nbd.Export
	for i, d := range g.cfg.Disks {
		name := fmt.Sprintf("disk%d", i)
		m.Exports = append(m.Exports, name)
		exports = append(exports, nbd.Export{Name: name, Device: g.device(name, d)})
	}
	l, err := nbd.Listen(m.NBDSocket)
	if err != nil {
		return err
	}
	g.server, g.serving = nbd.NewServer(exports, g.logger), make(chan error, 1)
	go func(l net.Listener) { g.serving <- g.server.Serve(context.Background(), l) }(l)
	return nil
}

// device returns the device to serve for a disk: that of the guard, or one without a guard.
func (g *Guest) device(name string, d *Disk) *blocktap.Device {
	if g.cfg.Guard != nil {
		if guarded := g.cfg.Guard.Device(name); guarded != nil {
			return guarded
		}
	}
	return blocktap.NewDevice(d, nil)
}

// Hello returns the agent's description of the guest, from the boot.
func (g *Guest) Hello() agent.Hello { return g.hello }

// Run runs a command in the guest. If the guest has failed, the error is its Failure.
func (g *Guest) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	ctx, cancel := g.whileAlive(ctx)
	defer cancel()
	e, err := g.client.Run(ctx, c)
	return e, g.cause(err)
}

// Do performs a batch of operations in the guest. If the guest has failed, the error is its
// Failure.
func (g *Guest) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	ctx, cancel := g.whileAlive(ctx)
	defer cancel()
	d, err := g.client.Do(ctx, b)
	return d, g.cause(err)
}

// cause returns the guest's failure if err is a closed connection, and err otherwise. The watcher
// may detect the failure after the connection has ended, so that cause waits for up to a second.
func (g *Guest) cause(err error) error {
	if !errors.Is(err, agent.ErrClosed) {
		return err
	}
	select {
	case <-g.Failed():
	case <-time.After(time.Second):
	}
	if f := g.Failure(); f != nil {
		return f
	}
	return err
}

// Log returns a reader of the log of the guest's RAM disks, for ramdisk.NewReader. Read waits for
// bytes, and fails when ctx ends or the guest fails.
func (g *Guest) Log(ctx context.Context) io.Reader {
	return &logReader{g: g, ctx: ctx, read: g.client.ReadLog}
}

// WriteSetLog is Log for the log of fsw_ekm, for ekm.NewReader.
func (g *Guest) WriteSetLog(ctx context.Context) io.Reader {
	return &logReader{g: g, ctx: ctx, read: g.client.ReadWrites}
}

// A logReader reads a log of a kernel module through the agent.
type logReader struct {
	g    *Guest
	ctx  context.Context
	read func(context.Context, time.Duration) ([]byte, error)
	buf  []byte // bytes that Read has not returned yet
}

// Read implements io.Reader.
func (r *logReader) Read(p []byte) (n int, err error) {
	ctx, cancel := r.g.whileAlive(r.ctx)
	defer cancel()
	for len(r.buf) == 0 {
		if r.buf, err = r.read(ctx, time.Second); err != nil {
			return 0, r.g.cause(err)
		}
	}
	n = copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// Close ends the guest. The caller closes the disks.
func (g *Guest) Close() error {
	var errs []error
	if g.stop != nil {
		g.stop()
		g.failed(&Failure{Kind: Gone, Text: "it was closed"})
	}
	if g.domain != nil {
		errs = append(errs, g.domain.Close())
	}
	if g.client != nil {
		errs = append(errs, g.client.Close())
	}
	if g.watching != nil {
		<-g.watching
	}
	if g.server != nil {
		end, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		socket := filepath.Join(g.cfg.Dir, g.cfg.Name+".nbd")
		errs = append(errs, g.server.Shutdown(end), <-g.serving, removeIfThere(socket))
	}
	return errors.Join(errs...)
}

// removeIfThere removes a file if it exists.
func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
