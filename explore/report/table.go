package report

import (
	"cmp"
	"slices"
	"strings"

	"fsward/explore"
	"fsward/explore/spec"
)

// A table has a row for each storage system and a column for each property, as table 2 of EXPLODE.
type table struct {
	Properties []string
	Rows       []row
}

// A row has the cells of a system, one for each property of the table.
type row struct {
	System string
	Cells  []cell
}

// A cell has the result for a property of a system.
type cell struct {
	Asked   bool
	All     bool     // all runs that asked for the property are complete
	Crashes uint64   // crashes that were tried for it
	Kinds   []string // kinds of its errors
	// Surprises are the kinds of its surprises.
	Surprises []string
}

// noCrash is the property of an error without a crash, found by a checker that tries crashes.
const noCrash = "without a crash"

// scripts is the property of stacks that have a checker of their own.
const scripts = "the stack's own"

// The columns begin with firstProperties, in this order, and end with lastProperties. All others
// are in between, by name.
var (
	firstProperties = []string{
		"sync", "syncfs", "fsync", "fdatasync", "O_SYNC", "O_DSYNC", "mount -o sync",
		"mount -o dirsync", "reasonable",
	}
	lastProperties = []string{explore.Committed, explore.Recovered, explore.Invariant, noCrash}
)

// compareProperties orders the columns.
func compareProperties(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index(firstProperties, s); i >= 0 {
			return i
		}
		return len(firstProperties) + 1 + slices.Index(lastProperties, s)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// property returns the property that an error of a run contradicts.
func (r Run) property(e explore.Error) string {
	switch {
	case e.Property != "":
		return e.Property
	case e.Crash == nil && len(r.Asked) > 0:
		return noCrash
	}
	return r.checker()
}

// asked returns the properties that a run has asked for, with the number of crashes tried for each.
// A checker that names no property asks for one with its own name.
func (r Run) asked() map[string]uint64 {
	out := make(map[string]uint64)
	own := false // the checker asks for a property
	for p, n := range r.Asked {
		if p == "" {
			p = r.checker()
		}
		out[p] += n
		own = own || !slices.Contains(lastProperties, p)
	}
	if !own {
		out[r.checker()] += 0
	}
	for _, e := range r.Errors {
		out[r.property(e.Error)] += 0
	}
	return out
}

// system returns the name of the row of a run. The mount options sync and dirsync are properties,
// so they are left out. The same stack on disks without a cache has a row of its own.
func system(r spec.Run) string {
	s := r.Spec
	s.Layers = slices.Clone(s.Layers)
	if n := len(s.Layers); n > 0 {
		options := strings.Split(s.Layers[n-1].MountOptions, ",")
		isProperty := func(o string) bool { return o == "sync" || o == "dirsync" }
		options = slices.DeleteFunc(options, isProperty)
		s.Layers[n-1].MountOptions = strings.Join(options, ",")
	}
	if r.Through {
		return s.String() + ", disks without a cache"
	}
	return s.String()
}

// tableOf returns the table of runs. Runs of the same system share a row.
func tableOf(runs []Run) (t table) {
	for _, r := range runs {
		for p := range r.asked() {
			if !slices.Contains(t.Properties, p) {
				t.Properties = append(t.Properties, p)
			}
		}
	}
	slices.SortFunc(t.Properties, compareProperties)
	for _, r := range runs {
		name := system(r.Spec)
		i := slices.IndexFunc(t.Rows, func(w row) bool { return w.System == name })
		if i < 0 {
			i = len(t.Rows)
			t.Rows = append(t.Rows, row{name, make([]cell, len(t.Properties))})
		}
		cells := t.Rows[i].Cells
		at := func(p string) *cell { return &cells[slices.Index(t.Properties, p)] }
		for p, n := range r.asked() {
			c := at(p)
			c.All = r.Complete && (c.All || !c.Asked)
			c.Asked = true
			c.Crashes += n
		}
		for _, e := range r.Errors {
			c := at(r.property(e.Error))
			list := &c.Kinds
			if e.Surprise {
				list = &c.Surprises
			}
			if !slices.Contains(*list, e.Kind) {
				*list = append(*list, e.Kind)
			}
		}
	}
	return t
}
