package qemudisk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/nbd"
)

const (
	// program is QEMU's block layer without a machine.
	program = "qemu-storage-daemon"
	// startTime bounds how long it may take to open an image, stopTime how long to close it. An image
	// that was not closed is repaired when it is opened, which reads all of its metadata.
	startTime = 5 * time.Minute
	stopTime  = time.Minute
	dialTime  = 10 * time.Second // from the name of the socket to listen(2)
	// pollPause is the time between two looks for the socket.
	pollPause = 5 * time.Millisecond
	// signalPause is the time between two requests to end.
	signalPause = 100 * time.Millisecond
	// maxSaid is the number of bytes of its messages that are kept, the last ones.
	maxSaid = 4 << 10
)

// process is a running qemu-storage-daemon.
type process struct {
	cmd      *exec.Cmd
	path     string // of the image
	dir      string // private folder of the socket
	socket   string
	said     tail
	stopping atomic.Bool   // it was asked to end
	ended    chan struct{} // closed when it has ended
}

type startConfig struct {
	path     string
	nodes    []string // arguments of --blockdev
	readOnly bool
	lock     *os.File // locked image; the process keeps the lock; may be nil
	marker   string   // file that the process makes and removes: see LostError; "" for none
	log      *zap.Logger
}

// start starts a qemu-storage-daemon and waits until it listens.
func start(ctx context.Context, cfg startConfig) (*process, error) {
	at, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %s is missing: apt-get install qemu-system-common: %w", cfg.path,
			program, err)
	}
	p := &process{path: cfg.path, ended: make(chan struct{})}
	if p.dir, err = os.MkdirTemp("", "fsward-qsd-"); err != nil { // mode 0700
		return nil, err
	}
	p.socket = filepath.Join(p.dir, "nbd")
	var args []string
	for _, node := range cfg.nodes {
		args = append(args, "--blockdev", node)
	}
	writable := "on"
	if cfg.readOnly {
		writable = "off"
	}
	args = append(args,
		"--nbd-server", "addr.type=unix,max-connections=1,addr.path="+strings.ReplaceAll(p.socket,
			",", ",,"),
		"--export", "type=nbd,id=export,node-name="+diskNode+",name="+exportName+",writable="+writable)
	if cfg.marker != "" {
		args = append(args, "--pidfile", cfg.marker)
	}
	p.cmd = exec.Command(at, args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	if cfg.lock != nil {
		p.cmd.ExtraFiles = []*os.File{cfg.lock}
	}
	// Its own process group: Ctrl-C on the terminal reaches fsward, which ends it after the last
	// request. If fsward is killed, the kernel ends it, and it closes the image.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := p.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start %s: %w", program, err), p.hideSocket())
	}
	if err := p.await(ctx); err != nil {
		return nil, errors.Join(err, p.stop(), p.hideSocket())
	}
	return p, nil
}

// run starts the process on a thread that lives as long as the process: the kernel sends Pdeathsig
// when the thread that started a process ends.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := p.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait() // endedError reports its state
		close(p.ended)
	}()
	return <-started
}

// await waits until the process listens.
func (p *process) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		// Do not connect: the server takes one client.
		if _, err := os.Stat(p.socket); err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return p.startError()
		case <-ctx.Done():
			return fmt.Errorf("%s: %s does not listen: %w: %s", p.path, program, ctx.Err(), p.said.text())
		case <-time.After(pollPause):
		}
	}
}

// dial connects to the process. It retries, because the socket exists shortly before the process
// listens on it.
func (p *process) dial(ctx context.Context, readOnly bool) (*nbd.Remote, error) {
	for begin := time.Now(); ; time.Sleep(pollPause) {
		remote, err := nbd.Dial(ctx, "unix", p.socket,
			nbd.RemoteOptions{Export: exportName, ReadOnly: readOnly})
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(begin) > dialTime {
			return remote, err
		}
	}
}

// startError is the error of a process that ended at once.
func (p *process) startError() error {
	said := p.said.text()
	if strings.Contains(said, "Failed to get") && strings.Contains(said, "lock") {
		return &blocktap.BusyError{Path: p.path,
			Holder: "a program that locks what it uses, such as qemu"}
	}
	return fmt.Errorf("%s: %s cannot open it (%s): %s", p.path, program, p.cmd.ProcessState, said)
}

// endedError returns an error that says how the process ended. Call it after ended is closed.
func (p *process) endedError() error {
	return &EndedError{Path: p.path, Status: p.cmd.ProcessState.String(), Said: p.said.text()}
}

func (p *process) isStopping() bool { return p.stopping.Load() }

// hideSocket removes the socket's name.
func (p *process) hideSocket() error { return os.RemoveAll(p.dir) }

// stop ends the process, which closes the image. It repeats the signal: the handler of
// qemu-storage-daemon sets a flag, and its main loop sleeps on if the signal comes between the look
// at the flag and ppoll(2). Twelve of 27,000 processes did.
func (p *process) stop() error {
	p.stopping.Store(true)
	select {
	case <-p.ended:
		return nil
	default:
	}
	patience := time.After(stopTime)
	for {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended meanwhile
		select {
		case <-p.ended:
			return nil
		case <-time.After(signalPause):
		case <-patience:
			_ = p.cmd.Process.Kill()
			<-p.ended
			return fmt.Errorf("%s: its %s did not end within %s and was killed", p.path, program,
				stopTime)
		}
	}
}

// tail is a writer that keeps the last maxSaid bytes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the last maxSaid bytes.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > maxSaid {
		t.b = append([]byte(nil), t.b[len(t.b)-maxSaid:]...)
	}
	return len(b), nil
}

// text returns the kept bytes as one line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ReplaceAll(bytes.TrimSpace(t.b), []byte("\n"), []byte("; ")))
}
