package matrix

import (
	"context"
	"fmt"
	"slices"
)

// A format describes a kind of file system to the matrix: what to record, how to distinguish its
// cells, and which programs to ask.
type format struct {
	name, title string // as fsward calls it; for people
	checker     string // the program that ask runs
	linux       string // the program that mounts it
	size        int64  // of every disk, bytes: small, so that a cell takes little time
	mkfs        []string
	variants    []Variant
	stages      []int // commits of a recording to alter, counted from its end, from 1
	wheres      []where
	wheresOf    func(object string) []string // names of wheres; "": the object has only one
	more        []Cell                       // more cells at these: Object, Where, Field, Change
	groups      []string                     // in the order of tables
	group       func(*Cell) string
	ask         func(context.Context, disks) (Peer, error) // runs the checker
}

// A where distinguishes objects of one kind: by the tree that they are in, or by their use.
type where struct{ name, condition string } // condition: as fsward corrupt takes it

func names(list []where) []string {
	var out []string
	for _, w := range list {
		out = append(out, w.name)
	}
	return out
}

func (f *format) condition(name string) string {
	i := slices.IndexFunc(f.wheres, func(w where) bool { return w.name == name })
	return f.wheres[i].condition
}

var formats = []*format{btrfs, ext3}

// Formats lists the file systems that have a matrix.
func Formats() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

func findFormat(name string) (*format, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("there is no corruption matrix of %q: there are %v", name, Formats())
}
