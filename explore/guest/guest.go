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
	Dir       string // of the socket and the console's file; it is there, and its path is short
	MemoryMiB uint   // 0: 128
	LogMiB    uint   // size of the RAM disks' log; 0: 8
	Cmdline   string
	Disks     []*Disk // vda, vdb, … with the names and serials disk0, disk1, …
	Guard     Guard   // of some of the disks; may be nil

	// Silence is how long the agent may not answer before the guest is said to hang, without the time in which the host had
	// no processor for it. 0: 800 ms, which an emulated processor on a busy host does not always keep: see SetSilence.
	Silence time.Duration
}

// A Guest runs. Safe for concurrent use.
type Guest struct {
	cfg    Config
	domain Domain
	client *agent.Client
	tail   *tail
	hello  agent.Hello
	logger *zap.Logger

	silence atomic.Int64 // time.Duration

	server   *nbd.Server
	serving  chan error
	stop     context.CancelFunc // of watching
	watching chan struct{}      // closed when it has ended

	beating sync.Mutex // held while a ping is under way, and for a checkpoint
	mu      sync.Mutex
	epoch   uint64
	failure *Failure
	life    context.Context // ends with the guest
	failed  context.CancelCauseFunc
	saved   uint64 // checkpoints so far
}

// Start boots a guest and returns when its agent has answered and the module of RAM disks is loaded.
func Start(ctx context.Context, hypervisor Hypervisor, cfg Config, log *zap.Logger) (g *Guest, err error) {
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
	// A panic is kept as it is, so that the guest can be put back to before it. The clock is one that is put back, too: QEMU never
	// lets an emulated time stamp counter fall. In a tmpfs the initramfs could have half of the memory only.
	m := Machine{Name: cfg.Name, Kernel: cfg.Files.Kernel, Initramfs: cfg.Files.Initramfs, MemoryMiB: cfg.MemoryMiB,
		Cmdline: "quiet panic=0 clocksource=acpi_pm tsc=unstable rootfstype=ramfs fsward.script=agent " + cfg.Cmdline,
		Console: filepath.Join(cfg.Dir, cfg.Name+".console"), OnLine: g.tail.add}
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
	// While it boots nothing answers, but it may panic or end.
	booting, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(g.watching)
		g.watchBoot(booting)
		g.watch(watch)
	}()
	if err := g.ready(ctx); err != nil {
		return g, fmt.Errorf("the guest %s does not get ready: %w; %s", cfg.Name, err, (&Failure{Kind: "boot", Text: "see its console",
			Console: g.tail.last()}).Error())
	}
	return g, nil
}

// watchBoot is watch without pings, until ctx ends.
func (g *Guest) watchBoot(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-g.domain.Gone():
		g.fail(0, &Failure{Kind: Gone, Text: g.domain.End(ctx)})
	case line := <-g.tail.panics:
		g.fail(0, &Failure{Kind: Panicked, Text: line})
	}
}

// ready waits for the agent and loads the module.
func (g *Guest) ready(ctx context.Context) (err error) {
	ctx, cancel := g.while(ctx)
	defer cancel()
	if g.hello, err = g.client.Hello(ctx); err != nil {
		return err
	}
	e, err := g.client.Run(ctx, agent.Command{Args: []string{"insmod", "/fsward/fsw_ramdisk.ko", fmt.Sprintf("log_mib=%d", g.cfg.LogMiB)},
		Timeout: time.Minute})
	if err == nil && e.Code != 0 {
		err = fmt.Errorf("cannot load fsw_ramdisk: %s %s", e.Stderr, e.Kernel)
	}
	return err
}

// serve serves the disks.
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

// device is what the guest is served as a disk.
func (g *Guest) device(name string, d *Disk) *blocktap.Device {
	if g.cfg.Guard != nil {
		if guarded := g.cfg.Guard.Device(name); guarded != nil {
			return guarded
		}
	}
	return blocktap.NewDevice(d, nil)
}

// Hello is what the agent said first.
func (g *Guest) Hello() agent.Hello { return g.hello }

// Run runs a command in the guest.
func (g *Guest) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	ctx, cancel := g.while(ctx)
	defer cancel()
	e, err := g.client.Run(ctx, c)
	return e, g.explained(err)
}

// Do performs a batch of operations in the guest.
func (g *Guest) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	ctx, cancel := g.while(ctx)
	defer cancel()
	d, err := g.client.Do(ctx, b)
	return d, g.explained(err)
}

// explained is the failure that an error comes of, which is noticed on another way and maybe later; or else the error.
func (g *Guest) explained(err error) error {
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

// Log reads the log of the guest's RAM disks, for ramdisk.NewReader. Reading waits for bytes, and ends with ctx or the guest.
func (g *Guest) Log(ctx context.Context) io.Reader {
	return &logReader{g: g, ctx: ctx, read: g.client.ReadLog}
}

// WriteSetLog is Log of the log of fsw_ekm, for ekm.NewReader.
func (g *Guest) WriteSetLog(ctx context.Context) io.Reader {
	return &logReader{g: g, ctx: ctx, read: g.client.ReadWrites}
}

type logReader struct {
	g    *Guest
	ctx  context.Context
	read func(context.Context, time.Duration) ([]byte, error)
	buf  []byte
}

func (r *logReader) Read(p []byte) (n int, err error) {
	ctx, cancel := r.g.while(r.ctx)
	defer cancel()
	for len(r.buf) == 0 {
		if r.buf, err = r.read(ctx, time.Second); err != nil {
			return 0, r.g.explained(err)
		}
	}
	n = copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// Close ends the guest. Its disks stay the caller's.
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
		errs = append(errs, g.server.Shutdown(end), <-g.serving, removed(filepath.Join(g.cfg.Dir, g.cfg.Name+".nbd")))
	}
	return errors.Join(errs...)
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
