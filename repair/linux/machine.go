package linux

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fsward/explore/agent"
	"fsward/explore/uml"
	"fsward/repair/sandbox"
)

// Bounds of a machine.
const (
	memoryMiB   = 192
	bootTime    = 3 * time.Minute // on a busy machine
	requestTime = time.Minute
	lifeTime    = 24 * time.Hour
	consoleMost = 4 << 20 // bytes
)

// socketName is the name of the host's socket in the sandbox.
const socketName = "agent"

// A Machine is a running kernel with one disk. It is used by one goroutine.
type Machine struct {
	dir    string // of the kernel's library, on the host
	size   uint64 // of the disk, in bytes
	box    *sandbox.Box
	client *agent.Client
	ended  chan struct{} // closed when the kernel has ended
	result sandbox.Result
	err    error // of the run
}

// Start boots a kernel with a disk of size bytes. It takes about two seconds.
func Start(ctx context.Context, size uint64) (*Machine, error) {
	m := &Machine{size: size, ended: make(chan struct{})}
	if err := m.start(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// start boots the kernel. After an error the machine has to be closed.
func (m *Machine) start(ctx context.Context) (err error) {
	if m.dir, err = os.MkdirTemp("", "fsward-linux-"); err != nil {
		return err
	}
	kernel, err := uml.New(ctx, m.dir)
	if err != nil {
		return err
	}
	m.box, err = sandbox.Start(sandbox.Config{WorkBytes: m.size + (memoryMiB+64)<<20})
	if err != nil {
		return err
	}
	f, err := os.Create(m.box.Path(diskName))
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(int64(m.size)), f.Close()); err != nil {
		return err
	}
	listener, err := net.Listen("unix", m.box.Path(socketName))
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := m.boot(kernel); err != nil {
		return err
	}
	return m.greet(ctx, listener)
}

// diskName is the name of the disk's file in the sandbox.
const diskName = "disk.img"

// initName is the name of the script in the sandbox that is the kernel's first process.
const initName = "init"

// initScript mounts /proc, and becomes this executable. Until then /proc is that of the sandbox, in
// which all files seem to be empty. Packages that read it before main starts, such as that of the
// NATS server, would end the kernel.
const initScript = `#!/bin/sh
mount -t proc proc /proc
exec "$@"
`

// boot starts the kernel.
func (m *Machine) boot(kernel *uml.Machine) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.WriteFile(m.box.Path(initName), []byte(initScript), 0o700); err != nil {
		return err
	}
	argv := kernel.Argv(memoryMiB, []string{filepath.Join(sandbox.Work, diskName)},
		[]string{"ro", "con0=null,fd:1", "con1=fd:0,fd:0", "uml_dir=" + sandbox.Work, "quiet",
			"panic=-1"},
		filepath.Join(sandbox.Work, initName), self, word)
	go func() {
		defer close(m.ended)
		m.result, m.err = m.box.Run(sandbox.Command{Argv: argv, Time: lifeTime, OutputBytes: consoleMost,
			Env: []string{kernel.Env(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent",
				"TMPDIR=" + sandbox.Work}, Socket: socketName})
	}()
	return nil
}

// greet waits until the agent answers.
func (m *Machine) greet(ctx context.Context, listener net.Listener) error {
	if err := listener.(*net.UnixListener).SetDeadline(time.Now().Add(bootTime)); err != nil {
		return err
	}
	conn, err := listener.Accept()
	if err != nil {
		return m.why(err)
	}
	m.client = agent.NewClient(conn)
	ctx, cancel := context.WithTimeout(ctx, bootTime)
	defer cancel()
	for wait := 300 * time.Millisecond; ; wait = min(wait*4/3, 3*time.Second) {
		// What arrives before the terminal is raw is lost. On a busy machine an answer takes longer.
		once, end := context.WithTimeout(ctx, wait)
		_, err := m.client.Hello(once)
		end()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return m.why(err)
		case <-m.ended:
			return m.why(err)
		default:
		}
	}
}

// why adds to an error what the kernel's console says, if the kernel has ended.
func (m *Machine) why(err error) error {
	select {
	case <-m.ended:
		return fmt.Errorf("user-mode Linux ended: %w: %s", errors.Join(err, m.err),
			lastLines(m.result.Output))
	default:
		return fmt.Errorf("user-mode Linux does not answer: %w", err)
	}
}

// lastLines returns the end of a console.
func lastLines(b []byte) string {
	const most = 2 << 10
	return strings.TrimSpace(strings.ToValidUTF8(string(b[max(0, len(b)-most):]), "?"))
}

// Close ends the kernel.
func (m *Machine) Close() error {
	var errs []error
	if m.client != nil {
		errs = append(errs, m.client.Close())
	}
	if m.box != nil {
		errs = append(errs, m.box.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(m.dir))...)
}

// An Image can be copied to a file.
type Image interface {
	Size() uint64
	CopyTo(*os.File) error
}

// Put makes an image the contents of the disk.
func (m *Machine) Put(image Image) error {
	if image.Size() != m.size {
		return fmt.Errorf("an image of %d bytes for a disk of %d", image.Size(), m.size)
	}
	f, err := os.OpenFile(m.box.Path(diskName), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(image.CopyTo(f), f.Close())
}

// Size returns the size of the disk in bytes.
func (m *Machine) Size() uint64 { return m.size }

// Path returns the path of the disk's file, as this process reaches it.
func (m *Machine) Path() string { return m.box.Path(diskName) }
