// Command rdcheck tries fsw_ramdisk in a guest: it loads the module, runs checks one after the other, and says on its output
// what it saw, for the host to judge. Its exit status is 0 if all checks passed.
//
//	check NAME ok      all that the check looks at is as it should be
//	check NAME failed  it is not; lines before say what
//	fact NAME: TEXT    what was measured
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// A check is given the module, loaded anew; one that is alone loads it itself.
type check struct {
	name   string
	params string // of the module
	run    func(c *ramdisk.Control) error
	alone  func() error
}

var checks = []check{
	{name: "mount", run: checkMount},
	{name: "log-ext3", run: checkLogExt3},
	{name: "log-btrfs", run: checkLogBtrfs},
	{name: "ioctl", run: checkIoctl},
	{name: "overflow", params: "log_mib=1", run: checkOverflow},
	{name: "tree", run: checkTree},
	{name: "load", run: checkLoad},
	{name: "time", run: checkTime},
	{name: "rate", run: checkRate},
	{name: "inject", run: checkInject},
	{name: "cycles", alone: checkCycles},
}

var modulePath string

func main() {
	flag.StringVar(&modulePath, "module", "fsw_ramdisk.ko", "`FILE` of the module")
	names := flag.String("checks", "", "`NAMES` of the checks to run, with commas; all if empty")
	child := flag.Bool("child", false, "run one check, with the module loaded unless it is alone")
	flag.Parse()
	failed := false
	for _, c := range checks {
		if *names != "" && !strings.Contains(","+*names+",", ","+c.name+",") {
			continue
		}
		run := runCheck
		if *child {
			run = runChild
		}
		if err := run(c); err != nil {
			if *child {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			failed = true
			say("error %s: %v", c.name, err)
			say("check %s failed", c.name)
			continue
		}
		if !*child {
			say("check %s ok", c.name)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// say writes a line for the host.
func say(format string, args ...any) { fmt.Printf("FSWARD: "+format+"\n", args...) }

// fact tells the host what was measured.
func fact(name, format string, args ...any) { say("fact %s: %s", name, fmt.Sprintf(format, args...)) }

// runCheck runs a check in a process of its own, so that nothing is open after it, and holds the module against being
// unloaded then.
func runCheck(c check) (err error) {
	if c.alone == nil {
		if err := load(c.params); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, unload()) }()
	}
	cmd := exec.Command("/proc/self/exe", "-module", modulePath, "-checks", c.name, "-child")
	var stderr strings.Builder
	cmd.Stdout, cmd.Stderr = os.Stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

func runChild(c check) error {
	if c.alone != nil {
		return c.alone()
	}
	ctl, err := ramdisk.Open()
	if err != nil {
		return err
	}
	return errors.Join(c.run(ctl), ctl.Close())
}

// load loads the module and waits for nothing: its devices are there when it is.
func load(params string) error {
	f, err := os.Open(modulePath)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), params, 0); err != nil {
		return fmt.Errorf("load %s: %w", modulePath, err)
	}
	return nil
}

func unload() error {
	if err := unix.DeleteModule("fsw_ramdisk", 0); err != nil {
		return fmt.Errorf("unload: %w", err)
	}
	return nil
}
