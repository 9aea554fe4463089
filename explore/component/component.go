// Package component makes components of the explorer from files of commands: the file systems that fsward knows, and those of users.
package component

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

//go:embed fs/*.yaml
var shipped embed.FS

// Kind is what a file says of a storage system. Its commands are lines of shell with these variables:
//
//	$DEVICE        what it stands on; the first of it
//	$DEVICES       all of it
//	$COUNT         how many that are
//	$AT            where it is mounted, or its own device
//	$NAME          $DEVICE without directories
//	$OPTIONS       mount options, "defaults" where there are none
//	$MKFS_OPTIONS  options of mkfs
type Kind struct {
	Name string `yaml:"-"` // the file's, without .yaml
	Doc  string `yaml:"doc"`

	Init string `yaml:"init"` // makes it
	// Type is what mount(2) calls it: it is mounted and unmounted by one system call each. In its place can be two commands. Options are
	// those that it is mounted with before those of the user.
	Type    string `yaml:"type"`
	Options string `yaml:"options"`
	Mount   string `yaml:"mount"` // $AT exists
	Unmount string `yaml:"unmount"`
	Recover string `yaml:"recover"` // after a crash, before mount; none: mount does it
	// Recovered lists the exit statuses by which recover says that all is well again: [0] where there is no list.
	Recovered []int `yaml:"recovered"`
	// Repair recovers it after a crash by looking at all of it, in the place of recover; exit status 0 or 1 says that all is well again. None:
	// recover does so, or there is no such program.
	Repair string `yaml:"repair"`
	// Verify looks at all of it, unmounted, and changes nothing; exit status 0 says that it is sound. None: there is no such program.
	Verify string `yaml:"verify"`
	// Threads are patterns of the shell: the names of kernel threads that work for it, as /proc/PID/comm has them.
	Threads []string `yaml:"threads"`
	Bytes   uint64   `yaml:"bytes"`  // that a disk for it needs; a good size
	Oracle  string   `yaml:"oracle"` // the invariants that hold for it: "btrfs", "ext3"; none: there are none
	// Kernels are the guest's that have it, see In. None: all.
	Kernels string `yaml:"kernels"`
	Names   int    `yaml:"names"` // bytes of the longest name; 0: 255
	Flat    bool   `yaml:"flat"`  // it has neither folders nor fsync(2)

	// Account says how the account of flushes is kept; none: it is not, since what need not be durable is not known.
	Account *Account `yaml:"account"`

	Promises model.Promises `yaml:"promises"`
	// Weaker is what mount options make of the promises.
	Weaker map[string]yaml.Node `yaml:"weaker"`
}

// What Kernels may be.
const (
	generic   = "generic" // not a cloud kernel: guest/build.sh DIR amd64, or 6.12-amd64
	linux6_12 = "6.12"    // guest/build.sh DIR 6.12-cloud-amd64, or 6.12-amd64
	nowhere   = "none"    // Debian has no program that makes it: it is for guests of one's own
)

// In tells whether the explorer's guest with a kernel of a release, as uname(2) says it, can make and mount it.
func (k *Kind) In(release string) bool {
	switch k.Kernels {
	case generic:
		return !strings.Contains(release, "cloud")
	case linux6_12:
		return !strings.HasPrefix(release, "6.1.")
	case nowhere:
		return false
	}
	return true
}

// Options are parameters of a component.
type Options struct {
	Mount string // as mount -o takes them
	Mkfs  string // words for the shell
}

// Names lists the kinds that fsward has.
func Names() (out []string) {
	list, err := fs.Glob(shipped, "fs/*.yaml")
	if err != nil {
		panic(err) // a pattern that is a constant
	}
	for _, p := range list {
		out = append(out, strings.TrimSuffix(path.Base(p), ".yaml"))
	}
	return out
}

// Load reads a kind: one of Names, or the path of a file.
func Load(name string) (*Kind, error) {
	var data []byte
	var err error
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		data, err = os.ReadFile(name)
	} else if data, err = shipped.ReadFile("fs/" + name + ".yaml"); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no component %q; there are %s, and files that end in .yaml", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, err
	}
	k, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("component %s: %w", name, err)
	}
	k.Name = strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".yaml"), ".yml")
	return k, nil
}

func parse(data []byte) (*Kind, error) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	k := new(Kind)
	if err := d.Decode(k); err != nil {
		return nil, err
	}
	if (k.Type == "") == (k.Mount == "") || (k.Mount == "") != (k.Unmount == "") {
		return nil, errors.New("it has to have either type, or the commands mount and unmount")
	}
	if !slices.Contains([]string{"", generic, linux6_12, nowhere}, k.Kernels) {
		return nil, fmt.Errorf("kernels: %q is none of %s, %s and %s", k.Kernels, generic, linux6_12, nowhere)
	}
	if k.Recovered == nil {
		k.Recovered = []int{0}
	}
	for _, pattern := range k.Promises.Own {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("promises, own, %q: %w", pattern, err)
		}
	}
	for option := range k.Weaker {
		if _, err := k.With(option); err != nil {
			return nil, fmt.Errorf("weaker, %s: %w", option, err)
		}
	}
	return k, nil
}

// With returns what is promised with mount options: "sync" and "dirsync" add to it, those in the file take from it.
func (k *Kind) With(mount string) (model.Promises, error) {
	p := k.Promises
	for option := range strings.SplitSeq(mount, ",") {
		switch node, is := k.Weaker[option]; {
		case is:
			if err := node.Decode(&p); err != nil {
				return p, err
			}
		case option == "sync":
			p.Sync = true
		case option == "dirsync":
			p.Dirsync = true
		}
	}
	return p, nil
}

// Component is a storage system of a kind. It is an explore.Component.
type Component struct {
	explore.Node
	Kind     *Kind
	Options  Options
	Promises model.Promises // with these mount options
}

// New makes a component that is mounted at a path, or has it as its device.
func (k *Kind) New(at string, o Options, on ...explore.Component) (*Component, error) {
	if len(on) == 0 {
		return nil, fmt.Errorf("%s has to stand on something", k.Name)
	}
	p, err := k.With(o.Mount)
	if err != nil {
		return nil, err
	}
	return &Component{explore.Node{At: at, On: on}, k, o, p}, nil
}

// limit bounds one command. What takes longer hangs.
const limit = time.Minute

// run runs a line of shell, which may end with some exit statuses.
func (c *Component) run(e *explore.Env, line string, good ...int) error {
	exit, err := c.shell(e, line)
	if err == nil && (exit.TimedOut || !slices.Contains(good, exit.Code)) {
		err = &explore.CommandError{Command: line, Exit: exit}
	}
	return err
}

func (c *Component) shell(e *explore.Env, line string) (agent.Exit, error) {
	var devices []string
	for _, child := range c.On {
		devices = append(devices, child.Path())
	}
	options := c.Options.Mount
	if options == "" {
		options = "defaults"
	}
	return e.RunCommand(agent.Command{Args: []string{"sh", "-c", line}, Timeout: limit, Env: []string{
		"DEVICE=" + devices[0], "DEVICES=" + strings.Join(devices, " "), "COUNT=" + strconv.Itoa(len(devices)), "AT=" + c.At,
		"NAME=" + path.Base(devices[0]), "OPTIONS=" + options, "MKFS_OPTIONS=" + c.Options.Mkfs}})
}

// Init makes it.
func (c *Component) Init(e *explore.Env) error {
	if c.Kind.Init == "" {
		return nil
	}
	return c.run(e, c.Kind.Init, 0)
}

// flags are mount options that mount(2) takes as flags, as mount(8) makes them.
var flags = map[string]uintptr{"defaults": 0, "ro": unix.MS_RDONLY, "rw": 0, "sync": unix.MS_SYNCHRONOUS, "dirsync": unix.MS_DIRSYNC,
	"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME, "strictatime": unix.MS_STRICTATIME,
	"lazytime": unix.MS_LAZYTIME, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC, "mand": unix.MS_MANDLOCK}

// mountOp is the system call that mounts a file system.
func (c *Component) mountOp() agent.Op {
	var set uintptr
	var rest []string
	for option := range strings.SplitSeq(c.Kind.Options+","+c.Options.Mount, ",") {
		if bits, is := flags[option]; is {
			set |= bits
		} else if option != "" {
			rest = append(rest, option)
		}
	}
	return agent.Mount(c.On[0].Path(), c.At, c.Kind.Type, set, strings.Join(rest, ","))
}

// Mount mounts it. Its directory is made where it is missing.
func (c *Component) Mount(e *explore.Env) error {
	if c.Kind.Type == "" {
		if err := c.directory(e); err != nil {
			return err
		}
		return c.run(e, c.Kind.Mount, 0)
	}
	op := c.mountOp()
	_, err := e.Do(op)
	if errors.Is(err, unix.ENOENT) {
		if err := c.directory(e); err != nil {
			return err
		}
		_, err = e.Do(op)
	}
	if err != nil {
		return c.refused(op, err)
	}
	return nil
}

// directory makes the one that it is mounted on.
func (c *Component) directory(e *explore.Env) error {
	if strings.HasPrefix(c.At, "/dev/") {
		return nil
	}
	r, err := e.Try(agent.Mkdir(c.At, 0o755))
	if err != nil {
		return err
	}
	if r[0].Errno != 0 && r[0].Errno != unix.EEXIST {
		return fmt.Errorf("mkdir %s: %w", c.At, r[0].Errno)
	}
	return nil
}

// refused tells what a system call that failed was.
func (c *Component) refused(op agent.Op, err error) error {
	var o *explore.OpError
	if errors.As(err, &o) {
		_, bits, texts, data := op.Fields()
		return fmt.Errorf("%s on %s, flags %#x, options %q: %w", c.Kind.Type, strings.Join(texts[:2], " "), bits[0], data, err)
	}
	return err
}

// Unmount unmounts it.
func (c *Component) Unmount(e *explore.Env) error {
	if c.Kind.Type == "" {
		return c.run(e, c.Kind.Unmount, 0)
	}
	op := agent.Unmount(c.At, 0)
	if _, err := e.Do(op); err != nil {
		return c.refused(op, err)
	}
	return nil
}

// Recover repairs it after a crash.
func (c *Component) Recover(e *explore.Env) error {
	if c.Kind.Recover == "" {
		return nil
	}
	return c.run(e, c.Kind.Recover, c.Kind.Recovered...)
}

var _ explore.Repairer = (*Component)(nil)

// Repairs tells whether it can be recovered in a second way.
func (c *Component) Repairs() bool { return c.Kind.Repair != "" }

// Repair recovers it in the second way. fsck(8): 1 says that errors were corrected.
func (c *Component) Repair(e *explore.Env) error { return c.run(e, c.Kind.Repair, 0, 1) }

// Verify has its own program look at all of it, unmounted, and change nothing: FiSC's comprehensive fsck. Nil where there is none.
func (c *Component) Verify(e *explore.Env) error {
	if c.Kind.Verify == "" {
		return nil
	}
	return c.run(e, c.Kind.Verify, 0)
}

// Threads looks for the kernel's threads by their names.
func (c *Component) Threads(e *explore.Env) ([]uint32, error) {
	if len(c.Kind.Threads) == 0 {
		return nil, nil
	}
	line := "for p in /proc/[0-9]*; do read -r comm < $p/comm && case $comm in " + strings.Join(c.Kind.Threads, "|") +
		") echo ${p#/proc/};; esac; done 2> /dev/null; true"
	exit, err := c.shell(e, line)
	if err != nil {
		return nil, err
	}
	var out []uint32
	for s := range strings.FieldsSeq(string(exit.Stdout)) {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("threads of %s: %w", c.Kind.Name, err)
		}
		out = append(out, uint32(n))
	}
	return out, nil
}
