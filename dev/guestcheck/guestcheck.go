// Package guestcheck runs checks of kernel modules in a guest, one after the other, and says on standard output what it saw, for
// the host to judge.
//
//	FSWARD: check NAME ok      all that the check looks at is as it should be
//	FSWARD: check NAME failed  it is not; lines before say what
//	FSWARD: fact NAME: TEXT    what was measured
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

// Module is one that a check is given, loaded anew.
type Module struct {
	Name   string // of the file, without .ko
	Params string
}

// Check is one. Run is called in a process of its own, so that nothing is open after it; the modules have to go then.
type Check struct {
	Name    string
	Modules []Module // in the order in which they are loaded
	Run     func() error
}

var folder string

// Main runs the checks that the command line names, and ends the program: with status 0 if all passed.
func Main(checks []Check) {
	flag.StringVar(&folder, "modules", "/fsward", "`FOLDER` of the modules")
	names := flag.String("checks", "", "`NAMES` of the checks to run, with commas; all if empty")
	child := flag.Bool("child", false, "run one check with its modules loaded, and no more")
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

// Fact tells the host what was measured.
func Fact(name, format string, args ...any) { Say("fact %s: %s", name, fmt.Sprintf(format, args...)) }

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

// Load loads a module. Its devices are there then.
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

// Unload unloads a module that nobody uses.
func Unload(m Module) error {
	if err := unix.DeleteModule(m.Name, 0); err != nil {
		return fmt.Errorf("unload %s: %w", m.Name, err)
	}
	return nil
}

// Program runs a program, and gives what it said if it fails.
func Program(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Mkfs makes a file system, "btrfs" or one of the ext family. Of the latter all inodes are initialised, which a thread of the
// kernel would do while something else is looked at.
func Mkfs(fs, device string) error {
	if fs == "btrfs" {
		return Program("mkfs.btrfs", "-q", "-f", device)
	}
	return Program("mke2fs", "-q", "-F", "-t", fs, "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
}

// Mounted mounts a file system with options of its own, does something in it, and unmounts it.
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

// Said tells in words how an operation has ended.
func Said(err error) string {
	if err == nil {
		return "success"
	}
	return err.Error()
}
