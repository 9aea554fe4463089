package component

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"fsward/explore/guest"
	"fsward/explore/model"
)

//go:embed fs/*.yaml
var shipped embed.FS

// A Kind describes a storage system, as its YAML file does. The commands are shell lines with these
// variables:
//
//	$DEVICE        the device that it stands on; the first of several
//	$DEVICES       all devices that it stands on
//	$COUNT         the number of these devices
//	$AT            its mount point, or the device that it makes
//	$NAME          $DEVICE without directories
//	$OPTIONS       mount options; "defaults" if there are none
//	$MKFS_OPTIONS  options of mkfs
//	$N             a choice, for a command that Choices names
type Kind struct {
	Name string `yaml:"-"` // name of the file without .yaml
	Doc  string `yaml:"doc"`
	// Needs are the packages and modules that the commands use, beside those that every guest has.
	guest.Needs `yaml:",inline"`

	Init string `yaml:"init"` // creates the storage system
	// Type is the name for mount(2). It is mounted and unmounted by one system call each. Options
	// are mount options that come before those of the user. The commands Mount and Unmount take the
	// place of Type.
	Type    string `yaml:"type"`
	Options string `yaml:"options"`
	Mount   string `yaml:"mount"` // $AT exists
	Unmount string `yaml:"unmount"`
	Recover string `yaml:"recover"` // after a crash, before the mount; "": the mount recovers
	// Recovered lists the exit statuses by which Recover reports success. The first one means that
	// there was nothing to repair. The default is [0].
	Recovered []int `yaml:"recovered"`
	// Repair recovers after a crash by examining everything, in place of Recover. Exit status 0 or 1
	// is success. "": Recover does so already, or there is no such program.
	Repair string `yaml:"repair"`
	// Verify examines everything, unmounted, and changes nothing. Exit status 0 means that it is
	// sound. "": there is no such program.
	Verify string `yaml:"verify"`
	// Choices has the number of values of $N, from 0 on, for some of the commands init, mount,
	// recover, repair and verify. The explorer tries each value.
	Choices map[string]uint32 `yaml:"choices"`
	// Threads are shell patterns for the names of its kernel threads in /proc/PID/comm.
	Threads []string `yaml:"threads"`
	Bytes   uint64   `yaml:"bytes"`  // a suitable size of a disk for it
	Oracle  string   `yaml:"oracle"` // the invariants that apply: "btrfs", "ext3"; "": none
	// Kernels are the kernels of the guest that support it, see In. "": all.
	Kernels string `yaml:"kernels"`
	Names   int    `yaml:"names"` // length of the longest name, in bytes; 0: 255
	Flat    bool   `yaml:"flat"`  // it has neither directories nor fsync(2)

	// Account configures flush accounting; nil: there is none, since it is not known which writes
	// need not be durable.
	Account *Account `yaml:"account"`

	// Passes: operations reach the file system below, and Promises are those of that one, without
	// what this one lacks.
	Passes   bool           `yaml:"passes"`
	Promises model.Promises `yaml:"promises"`
	// Weaker has, for a mount option, the promises that it changes.
	Weaker map[string]yaml.Node `yaml:"weaker"`
}

// The values of Kind.Kernels.
const (
	generic   = "generic" // no cloud kernel: guest/build.sh DIR amd64, or 6.12-amd64
	linux6_12 = "6.12"    // guest/build.sh DIR 6.12-cloud-amd64, or 6.12-amd64
	nowhere   = "none"    // Debian has no mkfs for it: only for a guest of the user's own
)

// choosing lists the commands that Kind.Choices can name.
var choosing = []string{"init", "mount", "recover", "repair", "verify"}

// In reports whether the explorer's guest can create and mount it. release is the kernel's release,
// as uname(2) returns it.
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

// Lacking says which guest supports it, and how to make that guest.
func (k *Kind) Lacking() string {
	const how = "make it by `guest/build.sh build/guest-%s %[1]s`, and add --guest build/guest-%[1]s"
	switch k.Kernels {
	case generic:
		return "it needs a guest with Debian's generic kernel: " + fmt.Sprintf(how, "amd64")
	case linux6_12:
		return "it needs a guest with kernel 6.12: " + fmt.Sprintf(how, "6.12-amd64")
	case nowhere:
		return "Debian has no program that makes it, so it needs a guest of your own"
	}
	return "every guest has it"
}

// Names returns the names of the shipped kinds.
func Names() (out []string) {
	list, err := fs.Glob(shipped, "fs/*.yaml")
	if err != nil {
		panic(err) // the constant pattern is malformed
	}
	for _, p := range list {
		out = append(out, strings.TrimSuffix(path.Base(p), ".yaml"))
	}
	return out
}

// Load reads a kind. name is one of Names, or the path of a file that ends in .yaml or .yml.
func Load(name string) (*Kind, error) {
	var data []byte
	var err error
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		data, err = os.ReadFile(name)
	} else if data, err = shipped.ReadFile("fs/" + name + ".yaml"); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no component %q; there are %s, and files that end in .yaml",
			name, strings.Join(Names(), ", "))
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

// parse parses and validates the YAML text of a kind.
func parse(data []byte) (*Kind, error) {
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	k := new(Kind)
	if err := d.Decode(k); err != nil {
		return nil, err
	}
	if (k.Type == "") == (k.Mount == "") || (k.Mount == "") != (k.Unmount == "") {
		return nil, errors.New("it needs either type, or both commands mount and unmount")
	}
	if !slices.Contains([]string{"", generic, linux6_12, nowhere}, k.Kernels) {
		return nil, fmt.Errorf("kernels: %q is not one of %s, %s and %s",
			k.Kernels, generic, linux6_12, nowhere)
	}
	for name, n := range k.Choices {
		if !slices.Contains(choosing, name) || n < 2 {
			return nil, fmt.Errorf("choices, %s: %d: the commands are %s, and the number of values "+
				"is 2 or more", name, n, strings.Join(choosing, ", "))
		}
	}
	if k.Recovered == nil {
		k.Recovered = []int{0}
	}
	if err := k.Needs.Check(); err != nil {
		return nil, err
	}
	if err := k.Promises.Check(); err != nil {
		return nil, fmt.Errorf("promises: %w", err)
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

// With returns the promises with mount options, separated by commas. "sync" and "dirsync" add
// promises; the options in Weaker change them.
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
