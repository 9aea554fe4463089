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

// checkCalls logs the system calls of a tree of processes, and holds them against what was called.
func checkCalls(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 1000) // over several pages
	var got []string
	var data []byte
	err = guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		at := func(name string) string { return filepath.Join(dir, name) }
		err := logged(c, ekm.Calls, func() error {
			if err := unix.Mkdir(at("foreign"), 0o700); err != nil { // by nobody who belongs
				return err
			}
			if err := c.AddTree(uint32(os.Getpid())); err != nil {
				return err
			}
			f, err := unix.Open(at("a"), unix.O_CREAT|unix.O_RDWR, 0o600)
			if err != nil {
				return err
			}
			_, e1 := unix.Write(f, big)
			_, e2 := unix.Pwrite(f, []byte("second"), 3)
			e3 := unix.Fsync(f)
			e4 := unix.Ftruncate(f, 100)
			e5 := unix.Close(f)
			e6 := unix.Rename(at("a"), at("b"))
			e7 := unix.Symlink("target", at("link"))
			e8 := unix.Setxattr(at("b"), "user.name", []byte("value"), 0)
			if err := unix.Unlink(at("none")); !errors.Is(err, unix.ENOENT) {
				return errors.Join(errors.New("what is not there is removed"), err)
			}
			e9 := guestcheck.Program("busybox", "mkdir", at("child"))
			return errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, c.RemoveMember(uint32(os.Getpid())))
		}, func(r *ekm.Record) error {
			if r.Type == ekm.SystemCallData {
				if uint64(len(data)) == r.Pos || r.Pos == 0 {
					data = append(data[:r.Pos], r.Data...)
				}
				return nil
			}
			if r.Type != ekm.SystemCall || !strings.Contains(r.Call.Paths[0]+r.Call.Paths[1], dir) && !slices.Contains([]string{"write", "pwrite64",
				"fsync", "ftruncate"}, r.Call.Name) {
				return nil
			}
			if (r.Call.Name == "write" || r.Call.Name == "pwrite64") && !bytes.Equal(data, big) && !bytes.Equal(data, []byte("second")) {
				return nil // the runtime's own, and commands to the module
			}
			if r.Flags != 0 {
				return fmt.Errorf("%s: flags %#x", r.Call.Name, r.Flags)
			}
			text := r.Call.Name
			for _, p := range r.Call.Paths {
				if p != "" {
					text += " " + strings.TrimPrefix(p, dir+"/")
				}
			}
			result := r.Call.Result
			if strings.HasPrefix(r.Call.Name, "open") {
				result = min(result, 0)
			}
			got = append(got, fmt.Sprintf("%s = %d", text, result))
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	want := []string{"openat a = 0", "write = 16000", "pwrite64 = 6", "fsync = 0", "ftruncate = 0", "renameat a b = 0", "symlinkat target link = 0",
		"setxattr b user.name = 0", "unlinkat none = -2", "mkdir child = 0"}
	guestcheck.Fact("calls", "%s", strings.Join(got, ", "))
	if !slices.Equal(got, want) {
		return fmt.Errorf("the log has %q, want %q", got, want)
	}
	return d.Remove()
}
