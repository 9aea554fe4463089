// Package component implements the components of the explorer: file systems and arrays that are
// created, mounted, recovered and verified as a YAML file describes. The files of the folder fs are
// part of the program; users can write their own.
//
// Start reading at Kind, which is the content of a file, and fs/ext3.yaml. A Component is a Kind on
// top of particular devices. Account configures flush accounting.
package component

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// Options are parameters of a component.
type Options struct {
	Mount string // as for mount -o
	Mkfs  string // words for the shell
	// Env are more variables of the commands, as NAME=VALUE.
	Env []string
}

// A Component is a storage system of a kind. It is an explore.Component.
type Component struct {
	explore.Node
	Kind     *Kind
	Options  Options
	Promises model.Promises // with these mount options
}

// New returns a component on top of at least one other component. at is its mount point, or the
// device that it makes.
func (k *Kind) New(at string, o Options, on ...explore.Component) (*Component, error) {
	if len(on) == 0 {
		return nil, fmt.Errorf("%s needs at least one component below it", k.Name)
	}
	p, err := k.With(o.Mount)
	if err != nil {
		return nil, err
	}
	if below, is := on[0].(*Component); k.Passes && is {
		p = p.Above(below.Promises)
	}
	return &Component{explore.Node{At: at, On: on}, k, o, p}, nil
}

// run runs the command that has a name in the kind. The exit statuses in good are success.
func (c *Component) run(e *explore.Env, name, line string, good ...int) error {
	exit, err := c.shell(e, line, c.choice(e, name)...)
	if err == nil && !slices.Contains(good, exit.Code) {
		err = &explore.CommandError{Command: line, Exit: exit}
	}
	return err
}

// choice returns the variable $N for a command that Kind.Choices names.
func (c *Component) choice(e *explore.Env, name string) []string {
	n := c.Kind.Choices[name]
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("N=%d", e.ChooseAt(n, c.Kind.Name+" "+name))}
}

// shell runs a shell line with the variables that Kind lists, and more.
func (c *Component) shell(e *explore.Env, line string, env ...string) (agent.Exit, error) {
	var devices []string
	for _, child := range c.On {
		devices = append(devices, child.Path())
	}
	options := c.Options.Mount
	if options == "" {
		options = "defaults"
	}
	return e.RunCommand(agent.Command{
		Args: []string{"sh", "-c", line},
		Env: append(slices.Concat(env, c.Options.Env),
			"DEVICE="+devices[0],
			"DEVICES="+strings.Join(devices, " "),
			"COUNT="+strconv.Itoa(len(devices)),
			"AT="+c.At,
			"NAME="+path.Base(devices[0]),
			"OPTIONS="+options,
			"MKFS_OPTIONS="+c.Options.Mkfs,
		),
	})
}

// Init creates the storage system.
func (c *Component) Init(e *explore.Env) error {
	if c.Kind.Init == "" {
		return nil
	}
	return c.run(e, "init", c.Kind.Init, 0)
}

// Recover repairs it after a crash. It does nothing if the mount recovers.
func (c *Component) Recover(e *explore.Env) error {
	if c.Kind.Recover == "" {
		return nil
	}
	exit, err := c.shell(e, c.Kind.Recover, c.choice(e, "recover")...)
	switch {
	case err != nil:
		return err
	case !slices.Contains(c.Kind.Recovered, exit.Code):
		return &explore.CommandError{Command: c.Kind.Recover, Exit: exit}
	case exit.Code != c.Kind.Recovered[0]:
		out := string(exit.Stdout) + string(exit.Stderr)
		if what := repairs(out); what != "" {
			e.Surprise(explore.Repaired, explore.Recovered, fmt.Sprintf("%s\n%s: exit status %d\n%s",
				what, c.Kind.Recover, exit.Code, firstLines(strings.TrimSpace(out), maxRepairs)))
		}
	}
	return nil
}

// maxRepairs bounds the lines of a recovery that a surprise quotes. recovery.log has all.
const maxRepairs = 40

// firstLines returns at most n lines of a text, and the number of the others.
func firstLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	if len(lines) <= n {
		return text
	}
	return fmt.Sprintf("%s\nlines left out: %d", strings.Join(lines[:n], "\n"), len(lines)-n)
}

// routine matches lines of an fsck that are not about damage: the names of its passes, its answers,
// its version, its summary, and the name of a file, which fsck.fat prints above what is wrong with
// it.
var routine = regexp.MustCompile(`^(Pass \d|/dev/|\S+: |e2fsck |fsck\.|Checking |Fix\? )|` +
	`^\d+ files|[Dd]irty bit|codepage|conversion table|^/\S*$|^Writing changes\.$|` +
	`FILE SYSTEM WAS MODIFIED|Filesystem was changed|not cleanly|recovering journal|` +
	`recovery (complete|flag)|^$`)

// repairs returns the first line about damage that an fsck printed; "": there is none.
func repairs(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); !routine.MatchString(line) {
			return line
		}
	}
	return ""
}

var _ explore.Repairer = (*Component)(nil)

// Repairs reports whether Repair is a second way to recover.
func (c *Component) Repairs() bool { return c.Kind.Repair != "" }

// Repair recovers it in the second way. Exit status 1 means that errors were corrected (fsck(8)).
func (c *Component) Repair(e *explore.Env) error { return c.run(e, "repair", c.Kind.Repair, 0, 1) }

// Verify runs the file system's own comprehensive check, unmounted and without changes: the
// comprehensive fsck of FiSC. It returns nil if there is no such program.
func (c *Component) Verify(e *explore.Env) error {
	if c.Kind.Verify == "" {
		return nil
	}
	return c.run(e, "verify", c.Kind.Verify, 0)
}

// Threads returns the process IDs of the kernel threads whose names match Kind.Threads.
func (c *Component) Threads(e *explore.Env) ([]uint32, error) {
	if len(c.Kind.Threads) == 0 {
		return nil, nil
	}
	line := "for p in /proc/[0-9]*; do read -r comm < $p/comm && case $comm in " +
		strings.Join(c.Kind.Threads, "|") + ") echo ${p#/proc/};; esac; done 2> /dev/null; true"
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
