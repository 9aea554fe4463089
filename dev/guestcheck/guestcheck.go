// Package guestcheck is the common main program of commands that check kernel modules in a guest.
// It runs the checks one at a time and writes these lines for the host to standard output:
//
//	FSWARD: check NAME ok      the check passed
//	FSWARD: check NAME failed  the check failed
//	FSWARD: error NAME: TEXT   why it failed
//	FSWARD: fact NAME: TEXT    a measurement
//
// Start reading at Main.
package guestcheck

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Module is a kernel module that a check needs. Each check loads it anew.
type Module struct {
	Name   string // of the file, without .ko
	Params string
}

// A Check is a named check. Run runs in its own process: its end closes all files, so that the
// modules can be unloaded. A module that cannot be unloaded fails the check.
type Check struct {
	Name    string
	Modules []Module // in the order in which they are loaded
	Run     func() error
}

// folder has the files of the modules.
var folder string

// Main runs the checks that the command line names. It then exits, with status 0 if all checks
// passed, else 1.
func Main(checks []Check) {
	flag.StringVar(&folder, "modules", "/fsward", "`FOLDER` of the modules")
	names := flag.String("checks", "",
		"run the checks with these `NAMES`, separated by commas; default all")
	child := flag.Bool("child", false, "run the checks in this process, without loading modules")
	flag.Parse()
	status := 0
	for _, c := range checks {
		if *names != "" && !strings.Contains(","+*names+",", ","+c.Name+",") {
			continue
		}
		if *child {
			if err := c.Run(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			continue
		}
		if err := run(c); err != nil {
			status = 1
			Say("error %s: %v", c.Name, err)
			Say("check %s failed", c.Name)
			continue
		}
		Say("check %s ok", c.Name)
	}
	os.Exit(status)
}

// Say writes a line for the host.
func Say(format string, args ...any) { fmt.Printf("FSWARD: "+format+"\n", args...) }

// Fact writes a measurement of the named check for the host.
func Fact(name, format string, args ...any) {
	Say("fact %s: %s", name, fmt.Sprintf(format, args...))
}

// run loads the modules of a check, runs the check in a child process, and unloads the modules.
func run(c Check) (err error) {
	for _, m := range c.Modules {
		if err := Load(m); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, Unload(m)) }()
	}
	cmd := exec.Command("/proc/self/exe", "-modules", folder, "-checks", c.Name, "-child")
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = os.Stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// Load loads a module. Its devices exist when Load returns.
func Load(m Module) error {
	f, err := os.Open(filepath.Join(folder, m.Name+".ko"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), m.Params, 0); err != nil {
		return fmt.Errorf("load %s: %w", m.Name, err)
	}
	return nil
}

// Unload unloads a module. It fails if the module is in use.
func Unload(m Module) error {
	if err := unix.DeleteModule(m.Name, 0); err != nil {
		return fmt.Errorf("unload %s: %w", m.Name, err)
	}
	return nil
}

// Program runs a program. The error includes its output.
func Program(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Mkfs makes a file system on a device: "btrfs" or one of the ext family. For the latter, mke2fs
// initializes all inode tables. Otherwise a kernel thread would do so during the check.
func Mkfs(fs, device string) error {
	if fs == "btrfs" {
		return Program("mkfs.btrfs", "-q", "-f", device)
	}
	const notLazy = "lazy_itable_init=0,lazy_journal_init=0"
	return Program("mke2fs", "-q", "-F", "-t", fs, "-E", notLazy, device)
}

// Mounted mounts a file system with noatime and its own options, calls do with the mount point, and
// unmounts the file system.
func Mounted(fs, device, options string, do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "guestcheck")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := unix.Mount(device, dir, fs, unix.MS_NOATIME, options); err != nil {
		return fmt.Errorf("mount %s on %s: %w", fs, device, err)
	}
	if err := do(dir); err != nil {
		_ = unix.Unmount(dir, 0)
		return err
	}
	if err := unix.Unmount(dir, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", fs, err)
	}
	return nil
}

// Outcome returns the text of an error, or "success" for nil.
func Outcome(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}
