package report

import (
	"cmp"
	"slices"
	"strings"

	"fsward/explore"
	"fsward/explore/spec"
)

// table is one of storage by properties, as table 2 of EXPLODE.
type table struct {
	Properties []string
	Rows       []row
}

type row struct {
	System string
	Cells  []cell
}

// cell is what is known of a property of a system.
type cell struct {
	Asked   bool
	All     bool     // all runs that asked for it were complete
	Crashes uint64   // that were tried for it
	Kinds   []string // of errors
}

// noCrash is the property that does not hold where a checker that crashes has found an error before it came to that.
const noCrash = "without a crash"

// order is that of the columns. What else is asked for stands before the last three, by its name.
var order = []string{"sync", "syncfs", "fsync", "fdatasync", "O_SYNC", "O_DSYNC", "mount -o sync", "mount -o dirsync", "reasonable"}
var last = []string{explore.Recovered, explore.Invariant, noCrash}

func compareProperties(a, b string) int {
	rank := func(s string) int {
		if i := slices.Index(order, s); i >= 0 {
			return i
		}
		return len(order) + 1 + slices.Index(last, s)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// property is what an error of a run says does not hold.
func (r Run) property(e explore.Error) string {
	switch {
	case e.Property != "":
		return e.Property
	case e.Crash == nil && len(r.Asked) > 0:
		return noCrash
	}
	return r.Spec.Checker
}

// asked are the properties that a run has asked for, with the crashes that were tried for each: its checker alone where that asks
// for one thing.
func (r Run) asked() map[string]uint64 {
	out := make(map[string]uint64)
	own := false
	for p, n := range r.Asked {
		if p == "" {
			p = r.Spec.Checker
		}
		out[p] += n
		own = own || !slices.Contains(last, p)
	}
	if !own {
		out[r.Spec.Checker] += 0
	}
	for _, e := range r.Errors {
		out[r.property(e.Error)] += 0
	}
	return out
}

// system names what was checked. That it was mounted with sync or dirsync is a property that is asked for, and no other system; that its disks
// have no cache makes it one.
func system(r spec.Run) string {
	s := r.Spec
	s.Layers = slices.Clone(s.Layers)
	if n := len(s.Layers); n > 0 {
		options := strings.Split(s.Layers[n-1].MountOptions, ",")
		options = slices.DeleteFunc(options, func(o string) bool { return o == "sync" || o == "dirsync" })
		s.Layers[n-1].MountOptions = strings.Join(options, ",")
	}
	if r.Through {
		return s.String() + ", disks without a cache"
	}
	return s.String()
}

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
			if c := at(r.property(e.Error)); !slices.Contains(c.Kinds, e.Kind) {
				c.Kinds = append(c.Kinds, e.Kind)
			}
		}
	}
	return t
}
