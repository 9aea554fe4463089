package checkers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/model"
)

// topologies is a checker that only makes and compares trees.
type topologies struct{ Core }

func (c *topologies) Mutate(e *explore.Env) error {
	var steps [][]model.Op
	all, _ := c.Steps()
	for _, s := range all {
		switch s[0].Code {
		case model.Mkdir, model.Rmdir, model.Unlink, model.Rename, model.Link:
			steps = append(steps, s)
		case model.Open:
			if len(s) == 2 { // open and close: it creates a file
				steps = append(steps, s)
			}
		}
	}
	if err := c.Step(e, steps[e.ChooseAt(uint32(len(steps)), "operation")]); err != nil {
		return err
	}
	return c.Same(e)
}

func (c *topologies) Check(*explore.Env, explore.Crash) error { return nil }

func (c *topologies) Signature(*explore.Env) ([]byte, error) { return c.fs.Signature(), nil }

// enumerate counts the trees, up to renaming, with at most a number of directories below the root
// and of names of files. Several names may belong to one file. It does not use the model: it
// generates each tree with each numbering of its directories, and counts the different least
// encodings.
func enumerate(dirs, files int) int {
	all := make(map[string]bool)
	for d := range dirs + 1 {
		parents := make([]int, d+1) // of directories 1 to d; directory 0 is the root
		var place func(i int)
		place = func(i int) {
			if i <= d {
				for parents[i] = range i {
					place(i + 1)
				}
				return
			}
			for n := range files + 1 {
				names := make([][2]int, n) // directory and file of each name
				var name func(j, used int)
				name = func(j, used int) {
					if j == n {
						all[least(parents, names)] = true
						return
					}
					for names[j][0] = range d + 1 {
						for names[j][1] = range used + 1 {
							name(j+1, max(used, names[j][1]+1))
						}
					}
				}
				name(0, 0)
			}
		}
		place(1)
	}
	return len(all)
}

// least returns the least encoding of a tree over all numberings of its directories.
func least(parents []int, names [][2]int) string {
	number := make([]int, len(parents)) // of each directory; the root stays 0
	best := ""
	var permute func(i int, used uint)
	permute = func(i int, used uint) {
		if i < len(parents) {
			for n := 1; n < len(parents); n++ {
				if used&(1<<n) == 0 {
					number[i] = n
					permute(i+1, used|1<<n)
				}
			}
			return
		}
		var tree, files []string
		for d := 1; d < len(parents); d++ {
			tree = append(tree, fmt.Sprintf("%d in %d", number[d], number[parents[d]]))
		}
		of := make(map[int][]int)
		for _, n := range names {
			of[n[1]] = append(of[n[1]], number[n[0]])
		}
		for _, in := range of {
			slices.Sort(in)
			files = append(files, fmt.Sprint(in))
		}
		slices.Sort(tree)
		slices.Sort(files)
		if text := strings.Join(tree, ",") + ";" + strings.Join(files, ","); best == "" || text < best {
			best = text
		}
	}
	permute(1, 0)
	return best
}

// TestTopologiesEqualEnumeration: the explorer visits each topology once. Their number is that of
// an enumeration without the explorer and the model.
func TestTopologiesEqualEnumeration(t *testing.T) {
	for _, c := range []struct{ dirs, files int }{{1, 1}, {2, 2}, {3, 2}} {
		cfg, _ := config(t, "sync", "", model.Promises{}, 0)
		p := fakePromises
		p.NoSymlinks = true
		cfg.Stack.Checker = &topologies{Core{
			At: fakeAt, Promises: p, Limits: Limits{Files: c.files, Dirs: c.dirs},
		}}
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		want := enumerate(c.dirs, c.files)
		if int(got.States) != want || !got.Complete || len(got.Errors) > 0 {
			t.Errorf("at most %d directories and %d names of files: "+
				"%d states, complete %t, errors %v; want %d states",
				c.dirs, c.files, got.States, got.Complete, got.Errors, want)
		}
		t.Logf("at most %d directories and %d names of files: %d topologies, %d runs, %.1f s",
			c.dirs, c.files, got.States, got.Runs, got.Seconds)
	}
}
