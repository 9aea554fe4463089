package matrix

import (
	"context"
	"fmt"
	"slices"
)

// A format describes a kind of file system to the matrix: what to record, how to distinguish its
// cells, and which programs to ask.
type format struct {
	name, title string    // name: in fsward; title: for people
	checker     string    // name of the checker, for people
	linux       string    // version of the kernel that mounts it, for people
	size        int64     // of every disk, bytes: small, so that a cell takes little time
	mkfs        []string  // program and options
	variants    []Variant // to record
	stages      []int     // commits of a recording to alter, counted from its end, from 1
	wheres      []where
	wheresOf    func(object string) []string // names of wheres; "" if the object has one place only
	more        []Cell                       // further cells: Object, Where, Field and Change are set
	groups      []string                     // in the order of tables
	group       func(*Cell) string
	ask         func(context.Context, disks) (Peer, error) // runs the checker
}

// A where is a place of an object. It distinguishes objects of one kind by their tree (Btrfs) or by
// their use (ext3).
type where struct {
	name      string
	condition string // in the syntax of fsward corrupt
}

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
	return nil, fmt.Errorf("no corruption matrix for %q: it exists for %v", name, Formats())
}
