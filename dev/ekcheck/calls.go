package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
)

// longWrite is the data of the first write of checkCalls: more than one record of the log holds.
var longWrite = bytes.Repeat([]byte("0123456789abcdef"), 1000)

// shortWrite is the data of the second write.
var shortWrite = []byte("second")

// checkCalls logs the system calls of a tree of processes and compares the log with the calls.
func checkCalls(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	var got callList
	err = guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		got.dir = dir
		return readLog(c, ekm.Calls, func() error {
			// This process is not a member yet, so the log must not have this call.
			if err := unix.Mkdir(filepath.Join(dir, "foreign"), 0o700); err != nil {
				return err
			}
			self := uint32(os.Getpid())
			if err := c.AddTree(self); err != nil {
				return err
			}
			return errors.Join(makeCalls(dir), c.RemoveMember(self))
		}, got.add)
	})
	if err != nil {
		return err
	}
	want := []string{
		"openat a = 0",
		"write = 16000",
		"pwrite64 = 6",
		"fsync = 0",
		"ftruncate = 0",
		"renameat a b = 0",
		"symlinkat target link = 0",
		"setxattr b user.name = 0",
		"unlinkat none = -2",
		"mkdir child = 0",
	}
	guestcheck.Fact("calls", "%s", strings.Join(got.calls, ", "))
	if !slices.Equal(got.calls, want) {
		return fmt.Errorf("the log has %q, want %q", got.calls, want)
	}
	return d.Remove()
}

// makeCalls makes the calls that the log must have.
func makeCalls(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	f, err := unix.Open(at("a"), unix.O_CREAT|unix.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, e1 := unix.Write(f, longWrite)
	_, e2 := unix.Pwrite(f, shortWrite, 3)
	e3 := unix.Fsync(f)
	e4 := unix.Ftruncate(f, 100)
	e5 := unix.Close(f)
	e6 := unix.Rename(at("a"), at("b"))
	e7 := unix.Symlink("target", at("link"))
	e8 := unix.Setxattr(at("b"), "user.name", []byte("value"), 0)
	if err := unix.Unlink(at("none")); !errors.Is(err, unix.ENOENT) {
		return errors.Join(errors.New("to unlink a name that does not exist does not fail with ENOENT"),
			err)
	}
	e9 := guestcheck.Program("busybox", "mkdir", at("child"))
	return errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9)
}

// A callList collects the calls of makeCalls from a log.
type callList struct {
	dir   string
	calls []string
	data  []byte // of the last write
}

// add adds the call of a record.
func (l *callList) add(r *ekm.Record) error {
	if r.Type == ekm.SystemCallData {
		if uint64(len(l.data)) == r.Pos || r.Pos == 0 {
			l.data = append(l.data[:r.Pos], r.Data...)
		}
		return nil
	}
	if r.Type != ekm.SystemCall || !l.ours(r.Call) {
		return nil
	}
	if r.Flags != 0 {
		return fmt.Errorf("%s: the record has flags %#x, want none", r.Call.Name, r.Flags)
	}
	text := r.Call.Name
	for _, p := range r.Call.Paths {
		if p != "" {
			text += " " + strings.TrimPrefix(p, l.dir+"/")
		}
	}
	result := r.Call.Result
	if strings.HasPrefix(r.Call.Name, "open") {
		result = min(result, 0) // file descriptors vary
	}
	l.calls = append(l.calls, fmt.Sprintf("%s = %d", text, result))
	return nil
}

// ours reports whether makeCalls made a call. Go's runtime and the commands to the module write
// too.
func (l *callList) ours(call *ekm.SystemInfo) bool {
	switch call.Name {
	case "write", "pwrite64":
		return bytes.Equal(l.data, longWrite) || bytes.Equal(l.data, shortWrite)
	case "fsync", "ftruncate":
		return true
	}
	return strings.Contains(call.Paths[0]+call.Paths[1], l.dir)
}
