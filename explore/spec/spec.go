// Package spec describes a stack, and a run that explores it, as data: a YAML file of the user, or
// the JSON text that is kept with a run. From it a run can be resumed, and an error replayed.
//
// Start reading at Spec, which is a stack file, and at Run.Config, which prepares a run.
package spec

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/guest"
)

// A Spec describes a stack and its checker.
type Spec struct {
	// Name is that of the stack, for Load; "": it has none.
	Name string `yaml:"-" json:"name,omitempty"`
	Doc  string `yaml:"doc" json:"doc,omitempty"`
	// Needs are the packages and modules that the commands of Script use, beside those of every
	// guest.
	guest.Needs `yaml:",inline"`
	// Parameters are the stack's options: for each name its possible values, the default first. $name
	// in a layer's component and options is its value, and the shell lines have a variable NAME.
	Parameters map[string][]string `yaml:"parameters" json:"parameters,omitempty"`
	Values     map[string]string   `yaml:"-" json:"values,omitempty"` // of parameters, see Set
	// Disks are the sizes of the RAM disks /dev/fswrd0, /dev/fswrd1, …; "auto": what the component on
	// the disk suggests.
	Disks   []Bytes  `yaml:"disks" json:"disks"`
	Guarded []string `yaml:"guarded" json:"guarded,omitempty"` // paths of the guarded disks
	Layers  []Layer  `yaml:"layers" json:"layers"`             // from the bottom to the top
	Checker string   `yaml:"checker" json:"checker"`           // as for checkers.New
	// Script is the checker, in place of Checker.
	Script *checkers.Text `yaml:"script" json:"script,omitempty"`
}

// A Layer is a component on top of disks and lower layers.
type Layer struct {
	Component    string   `yaml:"component" json:"component"` // as for component.Load
	At           string   `yaml:"at" json:"at"`               // mount point, or device that it makes
	On           []string `yaml:"on" json:"on"`               // disks, and At of lower layers
	MountOptions string   `yaml:"mount_options" json:"mount_options,omitempty"`
	MkfsOptions  string   `yaml:"mkfs_options" json:"mkfs_options,omitempty"`
}

// Bytes is a size in bytes. In a file it may end in K, M or G: powers of 1024. 0 is written auto.
type Bytes uint64

// UnmarshalYAML reads a size.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) (err error) {
	if *b, err = parseBytes(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// parseBytes parses a size: a number below 2^40, and optionally a unit.
func parseBytes(value string) (Bytes, error) {
	if value == "auto" {
		return 0, nil
	}
	text, shift := value, 0
	if i := strings.IndexAny(text, "KMG"); i > 0 && i == len(text)-1 {
		shift = 10 * (1 + strings.IndexByte("KMG", text[i]))
		text = text[:i]
	}
	v, err := strconv.ParseUint(text, 10, 40)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size, such as 16M", value)
	}
	return Bytes(v << shift), nil
}

// At is the mount point of the file system that FileSystem describes.
const At = "/mnt/fsward"

// FileSystem returns the stack of one file system on one RAM disk. fs and checker are names or
// files. size is a size such as "64M"; "" selects the size that the kind of file system suggests.
func FileSystem(fs, mountOptions, mkfsOptions, checker, size string) (s Spec, err error) {
	if fs, err = absolute(".", fs); err != nil {
		return s, err
	}
	if checker, err = absolute(".", checker); err != nil {
		return s, err
	}
	k, err := component.Load(fs)
	if err != nil {
		return s, err
	}
	bytes := Bytes(k.Bytes)
	if size != "" {
		if bytes, err = parseBytes(size); err != nil {
			return s, err
		}
	}
	layer := Layer{
		Component: fs, At: At, On: []string{"/dev/fswrd0"},
		MountOptions: mountOptions, MkfsOptions: mkfsOptions,
	}
	return Spec{Disks: []Bytes{bytes}, Checker: checker, Layers: []Layer{layer}}, nil
}

// Read reads a stack file. Paths in it are relative to its folder; Read makes them absolute.
func Read(path string) (s Spec, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	if s, err = parse(data); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for i := range s.Layers {
		l := &s.Layers[i]
		if l.Component, err = absolute(path, l.Component); err != nil {
			return s, err
		}
	}
	s.Checker, err = absolute(path, s.Checker)
	return s, err
}

// parse parses the text of a stack file.
func parse(data []byte) (s Spec, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		return s, err
	}
	if s.Script != nil && s.Checker != "" {
		return s, errors.New("it has both a checker and a script")
	}
	return s, errors.Join(s.Needs.Check(), s.checkParameters())
}

// absolute returns the absolute path of a file that a stack file names. A name without a dot is not
// a file, and is returned unchanged.
func absolute(stackFile, name string) (string, error) {
	if !strings.Contains(name, ".") || strings.HasPrefix(name, "$") || filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(stackFile), name))
}

// Components makes the components of the stack, without its checker, and returns the top one.
func (s Spec) Components() (*component.Component, error) {
	s, err := s.expanded()
	if err != nil {
		return nil, err
	}
	made := make(map[string]explore.Component) // by path
	for i, bytes := range s.Disks {
		d := explore.RAMDisk(uint32(i), uint64(bytes))
		d.Guarded = slices.Contains(s.Guarded, d.Path())
		made[d.Path()] = d
	}
	for _, path := range s.Guarded {
		if made[path] == nil {
			return nil, fmt.Errorf("there is no disk %s to guard", path)
		}
	}
	var top *component.Component
	for i, l := range s.Layers {
		if top, err = l.component(made, s.environment()); err != nil {
			return nil, fmt.Errorf("layer %d, %s: %w", i+1, l.Component, err)
		}
		made[l.At] = top
	}
	if top == nil {
		return nil, errors.New("the stack has no layers")
	}
	// A component that is not below the top would not be tested.
	stack := explore.Stack{Top: top}.Components()
	for path, c := range made {
		if !slices.Contains(stack, c) {
			return nil, fmt.Errorf("%s is not part of the stack below %s", path, top.Path())
		}
	}
	return top, nil
}

// component makes the component of a layer on top of some of those made so far.
func (l Layer) component(
	made map[string]explore.Component, env []string,
) (*component.Component, error) {
	k, err := component.Load(l.Component)
	if err != nil {
		return nil, err
	}
	var on []explore.Component
	for _, path := range l.On {
		below := made[path]
		if below == nil {
			return nil, fmt.Errorf("there is no %s below it", path)
		}
		on = append(on, below)
	}
	if l.At == "" {
		return nil, errors.New("it needs a mount point or device (at)")
	}
	if made[l.At] != nil {
		return nil, fmt.Errorf("%s is the path of another component already", l.At)
	}
	options := component.Options{Mount: l.MountOptions, Mkfs: l.MkfsOptions, Env: env}
	return k.New(l.At, options, on...)
}

// CheckKernel returns an error if a guest with a kernel of this release lacks a component. It says
// which guest has it.
func (s Spec) CheckKernel(release string) error {
	s, err := s.expanded()
	if err != nil {
		return err
	}
	for _, l := range s.Layers {
		k, err := component.Load(l.Component)
		if err != nil {
			return err
		}
		if !k.In(release) {
			return fmt.Errorf("the kernel %s has no %s; %s", release, k.Name, k.Lacking())
		}
	}
	return nil
}

// String returns the layers from the top to the bottom, with their options. The first one is the
// name of a stack with a script of its own, with the values that its parameters were given.
func (s Spec) String() string {
	if e, err := s.expanded(); err == nil {
		s = e
	}
	var parts []string
	for _, l := range slices.Backward(s.Layers) {
		name := strings.TrimSuffix(filepath.Base(l.Component), ".yaml")
		if l.MountOptions != "" {
			name += " -o " + l.MountOptions
		}
		if l.MkfsOptions != "" {
			name += " (" + l.MkfsOptions + ")"
		}
		parts = append(parts, name)
	}
	if s.Script != nil && s.Name != "" {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(s.Values)) {
			values = append(values, " "+name+"="+s.Values[name])
		}
		parts = slices.Insert(parts, 0, s.Name+strings.Join(values, ""))
	}
	return strings.Join(parts, " on ")
}
