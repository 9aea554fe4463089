// Package adapter describes the repair programs that are tested: how each is called, what its exit
// statuses mean, and which bounds it gets. A description is a file in YAML. Those of known programs
// are in programs/ and part of the executable. Start with Parse.
package adapter

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"fsward/repair"
)

// Image stands for the path of the image in the arguments of a command.
const Image = "{image}"

// maxFile bounds a description, in bytes.
const maxFile = 64 << 10

// A Program describes a repair program.
type Program struct {
	Name        string            `yaml:"program"`
	Package     string            `yaml:"package"` // of Debian
	FileSystems []string          `yaml:"file_systems"`
	Version     []string          `yaml:"version"` // a command whose first lines name the version
	Environment map[string]string `yaml:"environment"`
	Bounds      Bounds            `yaml:"bounds"`
	Input       string            `yaml:"input"` // of each run
	// Crash matches the output of a program that caught the signal of a crash itself.
	Crash   Pattern `yaml:"crash"`
	Repairs []Mode  `yaml:"repairs"`
	Check   *Mode   `yaml:"check"`
	// Undo is a repair that keeps what it overwrites, and the program that restores it.
	Undo *Undoing `yaml:"undo"`
	// Rebuild says how the program is built from its source; nil: fsward does not know.
	Rebuild *Rebuild `yaml:"rebuild"`
	// Statuses are those of modes that have none of their own.
	Statuses []Status `yaml:"statuses"`
	// Noise matches parts of messages that differ between runs with the same findings.
	Noise Pattern `yaml:"noise"`
}

// Bounds are those of each run.
type Bounds struct {
	Time   time.Duration `yaml:"time"`
	Memory uint64        `yaml:"memory"` // bytes of address space; 0: none, as sanitizers need
	Output int           `yaml:"output"` // bytes
}

// A Mode is one way to call the program.
type Mode struct {
	Name string   `yaml:"name"`
	Run  []string `yaml:"run"`
	// Again is the second run. It is empty if the second run is Run again, which says whether it
	// found something. It is "check" if the statuses of Run do not say that.
	Again    string   `yaml:"again"`
	Statuses []Status `yaml:"statuses"`
	Input    string   `yaml:"input"` // of each run; "": the program's
	// Fields matches the groups of damaged fields that a repair looks at; without it, all.
	Fields Pattern `yaml:"fields"`
	// Notes are where the program notes that it ran: a check may change these bytes of the image, and
	// no others.
	Notes []Note `yaml:"notes"`
}

// Repairs reports whether a mode looks at the fields of a group.
func (m *Mode) Repairs(group string) bool {
	return m.Fields.Regexp == nil || m.Fields.MatchString(group)
}

// UndoFile stands for the path of the undo file in the arguments of a command.
const UndoFile = "{undo}"

// An Undoing repairs with an undo file, and undoes the repair.
type Undoing struct {
	Repair   []string `yaml:"repair"`
	Run      []string `yaml:"run"`
	Statuses []Status `yaml:"statuses"` // of Run; default: those of the program
	// Notes are bytes that undoing may leave different after a repair that did not end.
	Notes []Note `yaml:"notes"`
}

// RepairMode returns the repair with an undo file.
func (u *Undoing) RepairMode() *Mode {
	return &Mode{Name: "with undo file", Run: u.Repair}
}

// UndoMode returns what restores the image.
func (u *Undoing) UndoMode() *Mode {
	return &Mode{Name: "undo", Run: u.Run, Statuses: u.Statuses}
}

// A Rebuild builds a program from the source package of Debian, by ./configure and make.
type Rebuild struct {
	Package   string   `yaml:"package"`
	Prepare   []string `yaml:"prepare"`   // a command that makes configure, if the archive lacks it
	Configure []string `yaml:"configure"` // arguments
	Make      []string `yaml:"make"`      // arguments of one call after the other
	Binary    string   `yaml:"binary"`    // path in the source folder
}

// A Note is a range of the image's bytes. In YAML it is [offset, length].
type Note struct{ Off, Len int64 }

// UnmarshalYAML reads [offset, length].
func (n *Note) UnmarshalYAML(node *yaml.Node) error {
	var parts [2]int64
	if err := node.Decode(&parts); err != nil || parts[0] < 0 || parts[1] < 1 {
		return fmt.Errorf("line %d: a note is [offset, length] of bytes", node.Line)
	}
	n.Off, n.Len = parts[0], parts[1]
	return nil
}

// A Status maps exit statuses to an outcome. The first Status that fits a run counts.
type Status struct {
	Is      []int          `yaml:"is"`   // any of these exit statuses
	Bits    int            `yaml:"bits"` // or: all of these bits are set
	Says    Pattern        `yaml:"says"` // and: the output matches
	Outcome repair.Outcome `yaml:"outcome"`
}

// A Pattern is a regular expression, in which ^ and $ stand for the begin and end of a line.
type Pattern struct{ *regexp.Regexp }

// UnmarshalText compiles the expression.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile("(?m)" + string(text))
	return err
}

// In reports whether the pattern is set and matches.
func (p Pattern) In(output []byte) bool { return p.Regexp != nil && p.Match(output) }

// Parse reads a description. It reports unknown keys and missing ones.
func Parse(text []byte) (*Program, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("an adapter of %d bytes; at most %d are allowed", len(text), maxFile)
	}
	p := &Program{Bounds: Bounds{Time: 10 * time.Second, Memory: 1 << 30, Output: 256 << 10}}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("adapter: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("adapter %s: %w", p.Name, err)
	}
	return p, nil
}

func (p *Program) check() error {
	switch {
	case p.Name == "" || strings.ContainsAny(p.Name, "/\n"):
		return errors.New("program needs a name without slashes")
	case len(p.FileSystems) == 0:
		return errors.New("file_systems is missing")
	case len(p.Repairs) == 0:
		return errors.New("repairs is missing")
	case p.Bounds.Time < time.Second || p.Bounds.Time > time.Hour:
		return fmt.Errorf("a time of %v; want 1s to 1h", p.Bounds.Time)
	case p.Bounds.Output < 1<<10 || p.Bounds.Output > 64<<20:
		return fmt.Errorf("an output of %d bytes; want 1 KiB to 64 MiB", p.Bounds.Output)
	}
	if r := p.Rebuild; r != nil && (!packageName.MatchString(r.Package) || r.Binary == "" ||
		len(r.Make) == 0) {
		return errors.New("rebuild needs a package of Debian, make and binary")
	}
	modes := slices.Clone(p.Repairs)
	if u := p.Undo; u != nil {
		modes = append(modes, *u.RepairMode(), *u.UndoMode())
		if !slices.Contains(u.Repair, UndoFile) || !slices.Contains(u.Run, UndoFile) {
			return fmt.Errorf("undo needs the argument %s in repair and in run", UndoFile)
		}
	}
	if p.Check != nil {
		modes = append(modes, *p.Check)
	}
	for i := range modes {
		m := &modes[i]
		switch {
		case !slices.Contains(m.Run, Image):
			return fmt.Errorf("mode %q: run needs the argument %s", m.Name, Image)
		case m.Again != "" && m.Again != "check":
			return fmt.Errorf("mode %q: again is %q; want check, or nothing", m.Name, m.Again)
		case m.Again == "check" && p.Check == nil:
			return fmt.Errorf("mode %q: again is check, but there is no check", m.Name)
		case len(m.Statuses)+len(p.Statuses) == 0:
			return fmt.Errorf("mode %q has no statuses", m.Name)
		}
		for _, s := range slices.Concat(m.Statuses, p.Statuses) {
			if s.Outcome == repair.Unknown || len(s.Is) == 0 && s.Bits == 0 && s.Says.Regexp == nil {
				return fmt.Errorf("mode %q: a status needs is, bits or says, and an outcome", m.Name)
			}
		}
	}
	return nil
}

// packageName matches the names of Debian's packages.
var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

// Outcome returns what a run of a mode claims. It is repair.Unknown if no status fits.
func (p *Program) Outcome(m *Mode, status int, output []byte) repair.Outcome {
	list := m.Statuses
	if len(list) == 0 {
		list = p.Statuses
	}
	for _, s := range list {
		if s.fits(status, output) {
			return s.Outcome
		}
	}
	return repair.Unknown
}

func (s *Status) fits(status int, output []byte) bool {
	if len(s.Is) > 0 && !slices.Contains(s.Is, status) || s.Bits&^status != 0 ||
		s.Bits != 0 && status < 0 {
		return false
	}
	return s.Says.Regexp == nil || s.Says.Match(output)
}

// Second returns the mode of the second run after a repair.
func (p *Program) Second(m *Mode) *Mode {
	if m.Again == "check" {
		return p.Check
	}
	return m
}

// Argv returns the arguments of a mode for an image and an undo file.
func (m *Mode) Argv(image, undo string) []string {
	argv := slices.Clone(m.Run)
	r := strings.NewReplacer(Image, image, UndoFile, undo)
	for i := range argv {
		argv[i] = r.Replace(argv[i])
	}
	return argv
}

// Env returns the environment of each run: that of no user, with messages in English.
func (p *Program) Env() []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C.UTF-8", "HOME=/nonexistent", "TMPDIR=/mnt", "TZ=UTC"}
	for name, value := range p.Environment {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// Mode returns a repair mode by name, or nil.
func (p *Program) Mode(name string) *Mode {
	for i := range p.Repairs {
		if p.Repairs[i].Name == name {
			return &p.Repairs[i]
		}
	}
	return nil
}

func (p *Program) modeNames() (names []string) {
	for _, m := range p.Repairs {
		names = append(names, m.Name)
	}
	return names
}

// Keep removes all repair modes but those with names; without names it removes none.
func (p *Program) Keep(names []string) error {
	for _, n := range names {
		if p.Mode(n) == nil {
			return fmt.Errorf("%s has no mode %q: want one of %s", p.Name, n,
				strings.Join(p.modeNames(), ", "))
		}
	}
	if len(names) > 0 {
		p.Repairs = slices.DeleteFunc(p.Repairs, func(m Mode) bool {
			return !slices.Contains(names, m.Name)
		})
	}
	return nil
}
