// Package spec makes a stack to explore of a file that says what it is made of, so that a run can go on and an error can be replayed
// by whoever has that file.
package spec

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"fsward/explore"
	"fsward/explore/component"
)

// Spec is what a stack is made of.
type Spec struct {
	Disks   []Bytes  `yaml:"disks" json:"disks"`               // RAM disks: /dev/fswrd0, /dev/fswrd1, …
	Guarded []string `yaml:"guarded" json:"guarded,omitempty"` // those of the disks that are guarded
	Layers  []Layer  `yaml:"layers" json:"layers"`             // from the bottom up; the last one is the top
	Checker string   `yaml:"checker" json:"checker"`           // its name, or a file
}

// Layer is a component on what is below it.
type Layer struct {
	Component    string   `yaml:"component" json:"component"` // as component.Load takes it
	At           string   `yaml:"at" json:"at"`               // directory or device that it makes
	On           []string `yaml:"on" json:"on"`               // disks, and At of layers below
	MountOptions string   `yaml:"mount_options" json:"mount_options,omitempty"`
	MkfsOptions  string   `yaml:"mkfs_options" json:"mkfs_options,omitempty"`
}

// Bytes is a size. In a file it may end in K, M or G, of 1024.
type Bytes uint64

// UnmarshalYAML reads a size.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) (err error) {
	if *b, err = parseBytes(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

func parseBytes(value string) (Bytes, error) {
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

// At is where a file system of its own is mounted.
const At = "/mnt/fsward"

// FileSystem is the stack of one file system on one RAM disk, of a size such as "64M"; "": that its kind wants. fs may be a file, and so may checker.
func FileSystem(fs, mountOptions, mkfsOptions, checker, size string) (s Spec, err error) {
	if fs, err = found(".", fs); err != nil {
		return s, err
	}
	if checker, err = found(".", checker); err != nil {
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
	return Spec{Disks: []Bytes{bytes}, Checker: checker,
		Layers: []Layer{{Component: fs, At: At, On: []string{"/dev/fswrd0"}, MountOptions: mountOptions, MkfsOptions: mkfsOptions}}}, nil
}

// Read reads a file. Paths in it are relative to its folder.
func Read(path string) (s Spec, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for i := range s.Layers {
		l := &s.Layers[i]
		if l.Component, err = found(path, l.Component); err != nil {
			return s, err
		}
	}
	s.Checker, err = found(path, s.Checker)
	return s, err
}

// found makes the name of a file, which has a dot, an absolute path.
func found(spec, name string) (string, error) {
	if !strings.Contains(name, ".") || filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(spec), name))
}

// Components makes the stack without its checker, and returns its top.
func (s Spec) Components() (*component.Component, error) {
	made := make(map[string]explore.Component)
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
		k, err := component.Load(l.Component)
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", i+1, err)
		}
		var on []explore.Component
		for _, path := range l.On {
			below := made[path]
			if below == nil {
				return nil, fmt.Errorf("layer %d, %s: there is no %s below it", i+1, l.Component, path)
			}
			on = append(on, below)
		}
		if made[l.At] != nil || l.At == "" {
			return nil, fmt.Errorf("layer %d, %s: at %q there is something already, or nothing can be", i+1, l.Component, l.At)
		}
		if top, err = k.New(l.At, component.Options{Mount: l.MountOptions, Mkfs: l.MkfsOptions}, on...); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i+1, err)
		}
		made[l.At] = top
	}
	if top == nil {
		return nil, errors.New("the stack has no layers")
	}
	// What nothing stands on would not be tried.
	stack := explore.Stack{Top: top}.Components()
	for path, c := range made {
		if !slices.Contains(stack, c) {
			return nil, fmt.Errorf("%s is no part of the stack below %s", path, top.Path())
		}
	}
	return top, nil
}

// String names the stack: its layers from the top down, with their options.
func (s Spec) String() string {
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
	return strings.Join(parts, " on ")
}
