package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Work is the writable folder in a Box. It is in memory and belongs to the Box alone.
const Work = "/mnt"

// argv0 is the name under which this executable is a Box.
const argv0 = "fsward-sandbox"

// Config has the bounds of a Box.
type Config struct {
	// WorkBytes bounds the files in Work, together. Programs that write more see ENOSPC.
	WorkBytes uint64
	// Folder, if set, stands at the place of Work: a folder of the host that programs may write, with
	// what is mounted below it.
	Folder string
}

// A Command is one run of a program. Each bound must be greater than 0, except that no memory
// bound is set if MemoryBytes is 0.
type Command struct {
	Argv  []string // Argv[0] is a path, or a name that is looked up in $PATH
	Env   []string // the whole environment, NAME=VALUE
	Input string   // on stdin
	// Socket, if set, is the name of a socket in Work on which the caller listens. A connection to it
	// is the program's stdin, through which it can also answer.
	Socket      string
	Time        time.Duration // without that of waiting for a processor
	MemoryBytes uint64        // of address space
	// FileBytes bounds each file that the program writes, unless the program raises the bound itself.
	// Beyond it the program sees EFBIG or SIGXFSZ. 0: only Config.WorkBytes bounds them.
	FileBytes   uint64
	OutputBytes int
}

// A Result is what became of a Command.
type Result struct {
	Status   int           `json:"status"`           // exit status; -1 if the program did not exit
	Signal   string        `json:"signal,omitempty"` // the signal that ended the program
	TimedOut bool          `json:"timed_out,omitempty"`
	Flooded  bool          `json:"flooded,omitempty"` // the program was ended for too much output
	Took     time.Duration `json:"took"`
	CPU      time.Duration `json:"cpu"` // processor time, with that of children that were waited for
	// Output is stdout and stderr, in the order of the writes, cut at the bound.
	Output []byte `json:"-"`
}

// A Box runs programs, one at a time. It is used by one goroutine, but for Stop.
type Box struct {
	cmd      *exec.Cmd
	requests io.WriteCloser
	enc      *json.Encoder
	dec      *json.Decoder
}

// reply is the answer of the process in the box. Problem is set if the program did not start.
type reply struct {
	Result
	Out     []byte
	Problem string
}

// Start starts a Box. It needs root, or a kernel that lets users make user namespaces.
func Start(cfg Config) (*Box, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &Box{cmd: exec.Command(self)}
	b.cmd.Args = []string{argv0, strconv.FormatUint(cfg.WorkBytes, 10), strconv.Itoa(os.Geteuid()),
		cfg.Folder}
	b.cmd.Env = os.Environ()
	b.cmd.Stderr = os.Stderr
	b.cmd.SysProcAttr = attributes()
	if b.requests, err = b.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("sandbox: starting a process in new namespaces: %w", err)
	}
	b.enc, b.dec = json.NewEncoder(b.requests), json.NewDecoder(out)
	var ready reply
	if err := b.dec.Decode(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: the process ended early: %w", err), b.Close())
	}
	if ready.Problem != "" {
		return nil, errors.Join(fmt.Errorf("sandbox: %s", ready.Problem), b.Close())
	}
	return b, nil
}

// attributes returns the namespaces of a box. Without root it is root in a user namespace.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
		syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	return a
}

// Path returns the path by which this process reaches a file of the Box's Work folder.
func (b *Box) Path(name string) string {
	return filepath.Join("/proc", strconv.Itoa(b.cmd.Process.Pid), "root", Work, name)
}

// Run runs a program to its end, or to one of its bounds. An error means that the program did not
// start, or that the Box is gone.
func (b *Box) Run(c Command) (Result, error) {
	if len(c.Argv) == 0 || c.Time <= 0 || c.OutputBytes <= 0 {
		return Result{}, fmt.Errorf("sandbox: a command without arguments or bounds: %+v", c)
	}
	if err := b.enc.Encode(c); err != nil {
		return Result{}, fmt.Errorf("sandbox: %w", err)
	}
	var r reply
	if err := b.dec.Decode(&r); err != nil {
		return Result{}, fmt.Errorf("sandbox: the process ended: %w", err)
	}
	if r.Problem != "" {
		return Result{}, fmt.Errorf("sandbox: %s: %s", c.Argv[0], r.Problem)
	}
	r.Result.Output = r.Out
	return r.Result, nil
}

// Stop ends the program that runs, so that Run returns. It may be called while Run runs.
func (b *Box) Stop() error { return b.cmd.Process.Signal(unix.SIGTERM) }

// Close ends the Box and every process in it.
func (b *Box) Close() error {
	err := b.requests.Close()
	// The process ends when its requests end; the kill is for one that is stuck.
	timer := time.AfterFunc(time.Second, func() { _ = b.cmd.Process.Kill() })
	defer timer.Stop()
	var exit *exec.ExitError
	if waited := b.cmd.Wait(); waited != nil && !errors.As(waited, &exit) {
		err = errors.Join(err, waited)
	}
	return err
}
