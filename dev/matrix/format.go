package matrix

import (
	"context"
	"fmt"
	"slices"
)

// A format is a kind of file system as the matrix has it: what is recorded, what its cells are told apart by, and who
// else is asked.
type format struct {
	name, title string // as fsward calls it; for people
	checker     string // whom ask asks
	linux       string // that mounts it
	size        int64  // of every disk, bytes: small, so that a cell is judged quickly
	mkfs        []string
	variants    []Variant
	stages      []int // the commits of a recording that are altered, from its end: the last one is 1
	wheres      []where
	wheresOf    func(object string) []string // names of wheres; "": the object is not told apart
	more        []Cell                       // beside every change of every field at these: Object, Where, Field, Change
	groups      []string                     // in the order of tables
	group       func(*Cell) string
	ask         func(context.Context, disks) (Peer, error) // what the checker says
}

// A where tells the objects of one kind apart: by the tree that they are in, or by what they are used for.
type where struct{ name, condition string } // condition: in the words of fsward corrupt

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

// Formats are the file systems that there are matrices of.
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
