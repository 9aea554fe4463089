package usermode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/agent/mailbox"
	"fsward/explore/ubd"
	"fsward/explore/uml"
	"fsward/repair/sandbox"
)

// Bounds of a kernel.
const (
	bootTime    = 3 * time.Minute // on a busy machine
	lifeTime    = 10 * 365 * 24 * time.Hour
	consoleMost = 4 << 20 // bytes
	endTime     = 2 * time.Second
	roomMiB     = 96 // in the sandbox's folder, beside the memory and the disks
)

// Names in the sandbox's folder.
const (
	socketName  = "agent"
	mailboxName = "mailbox"
	writtenName = "written"
	logName     = "log"
)

// diskName returns the name of a disk's file in the sandbox's folder.
func diskName(n uint32) string { return fmt.Sprintf("disk%d", n) }

// initPath is the first process in the initramfs: guest/uml.sh.
const initPath = "/fsward/uml.sh"

// A kernel is one that runs.
type kernel struct {
	mail   *mailbox.Host
	client *agent.Client
	ended  chan struct{} // closed when the kernel has ended
	result sandbox.Result
	err    error // of the run
}

// New prepares a machine. Its error matches exec.ErrNotFound if Debian's package user-mode-linux is
// missing. Close ends it.
func New(cfg Config) (m *Machine, err error) {
	if cfg.Initramfs, err = filepath.Abs(cfg.Initramfs); err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.Initramfs); err != nil {
		return nil, err
	}
	m = &Machine{cfg: cfg, disks: make(map[uint32]*disk)}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	work := cfg.DiskBytes + uint64(cfg.MemoryMiB+cfg.LogMiB+roomMiB)<<20
	if m.box, err = sandbox.Start(sandbox.Config{WorkBytes: work}); err != nil {
		return nil, err
	}
	if m.dir, err = os.MkdirTemp("", "fsward-usermode-"); err != nil {
		return nil, err
	}
	if m.listener, err = net.Listen("unix", m.box.Path(socketName)); err != nil {
		return nil, err
	}
	return m, m.share()
}

// share makes the memory that the host shares with the kernels, and the log of the disks.
func (m *Machine) share() (err error) {
	path := m.box.Path(mailboxName)
	if err := mailbox.Make(path); err != nil {
		return err
	}
	if m.area, err = ubd.OpenArea(path); err != nil || m.cfg.LogMiB == 0 {
		return err
	}
	m.log, err = ubd.NewLog(m.box.Path(logName), int(m.cfg.LogMiB)<<20, m.area)
	return err
}

// Close ends the kernel and everything that it has started.
func (m *Machine) Close() (err error) {
	m.stop()
	if m.listener != nil {
		err = m.listener.Close()
	}
	if m.box != nil {
		err = errors.Join(err, m.box.Close())
	}
	for _, d := range m.disks {
		err = errors.Join(err, d.close())
	}
	if m.written != nil {
		err = errors.Join(err, m.written.Close())
	}
	if m.log != nil {
		err = errors.Join(err, m.log.Close())
	}
	if m.area != nil {
		err = errors.Join(err, m.area.Close())
	}
	if m.dir != "" {
		err = errors.Join(err, os.RemoveAll(m.dir))
	}
	return err
}

// boot boots the kernel, and waits until its agent answers.
func (m *Machine) boot(ctx context.Context) error {
	begun, err := m.start(ctx)
	if err != nil {
		return err
	}
	k := &kernel{ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		k.result, k.err = m.box.Run(begun)
	}()
	if err := m.greet(ctx, k); err != nil {
		_, output := k.end(m.box, false)
		return fmt.Errorf("user-mode Linux does not boot: %w: %w\n%s", err, k.err,
			strings.Join(lastLines(output), "\n"))
	}
	m.kernel, m.requests = k, 0
	return nil
}

// start returns the command that boots the kernel.
func (m *Machine) start(ctx context.Context) (c sandbox.Command, err error) {
	kernel, err := uml.New(ctx, m.dir)
	if err != nil {
		return c, err
	}
	options := []string{
		"con0=null,fd:1", "con1=fd:0,fd:0", "uml_dir=" + sandbox.Work,
		"iomem=mmapper," + filepath.Join(sandbox.Work, mailboxName),
		// Only a panic shows on the console, so that years of mounts do not fill its bound.
		"loglevel=1", "panic=-1",
	}
	for n := range m.disks {
		options = append(options, fmt.Sprintf("ubd%d=%s/%s", n, sandbox.Work, diskName(n)))
	}
	pin, err := onOneProcessor()
	if err != nil {
		return c, err
	}
	env := []string{kernel.Env(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent",
		"TMPDIR=" + sandbox.Work, uml.WrittenEnv(filepath.Join(sandbox.Work, writtenName))}
	if m.log != nil {
		env = append(env, ubd.Env(filepath.Join(sandbox.Work, mailboxName),
			filepath.Join(sandbox.Work, logName))...)
	}
	return sandbox.Command{
		Argv: append(pin,
			kernel.InitramfsArgv(int(m.cfg.MemoryMiB), nil, options, m.cfg.Initramfs, initPath)...),
		Env:  env,
		Time: lifeTime, OutputBytes: consoleMost, Socket: socketName,
	}, nil
}

// onOneProcessor returns the words that run the command after them on one of the processors. The
// processes of user-mode Linux wait for each other all the time. Between two processors they take a
// third more processor time, and several times as long.
func onOneProcessor() ([]string, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var list []string
	for n := range 8 * len(set) * int(unsafe.Sizeof(set[0])) {
		if set.IsSet(n) {
			list = append(list, strconv.Itoa(n))
		}
	}
	return []string{"taskset", "-c", list[rand.IntN(len(list))]}, nil
}

// greet waits until the agent of a kernel answers.
func (m *Machine) greet(ctx context.Context, k *kernel) error {
	deadline := time.Now().Add(bootTime)
	if err := m.listener.(*net.UnixListener).SetDeadline(deadline); err != nil {
		return err
	}
	conn, err := m.listener.Accept()
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(deadline); err != nil {
		return errors.Join(err, conn.Close())
	}
	if k.mail, err = mailbox.NewHost(m.box.Path(mailboxName), conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	k.client = agent.NewClient(k.mail)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	_, err = k.client.Hello(ctx)
	return err
}

// end kills the kernel, and returns its console. With wait, the kernel may be about to end by
// itself; by reports whether it did.
func (k *kernel) end(box *sandbox.Box, wait bool) (by bool, console []byte) {
	if wait {
		select {
		case <-k.ended:
			by = true
		case <-time.After(endTime):
		}
	}
	if !by {
		_ = box.Stop() // fails only if the box has ended, and the kernel with it
	}
	<-k.ended
	if k.client != nil {
		_ = k.client.Close()
	}
	if k.mail != nil {
		_ = k.mail.Release()
	}
	return by, k.result.Output
}

// maxLines bounds the lines of the console in a failure.
const maxLines = 80

// lastLines returns the last lines of a console.
func lastLines(b []byte) []string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(b), "?")), "\n")
	return lines[max(0, len(lines)-maxLines):]
}
