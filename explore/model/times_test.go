package model_test

import (
	"errors"
	"testing"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// timed has times, and promises of ext4.
var timed = model.Promises{Ordered: true, AtomicRename: true, Data: model.Zeros,
	Features: []model.Feature{model.Times}}

// TestCheckTimes: an operation must not leave an earlier time where it has to change it, and may
// where it has not.
func TestCheckTimes(t *testing.T) {
	const before = "mkdir /d; creat /d/f; creat /g; link /g /h"
	for _, c := range []struct {
		done, path   string
		mtime, ctime bool // the operation has to change it
	}{
		{"creat /n", ".", true, true},
		{"creat /d/n", ".", false, false},
		{"unlink /d/f", "d", true, true},
		{"rename /g /d/g", "d", true, true},
		{"rename /g /d/g", ".", true, true},
		{"rename /g /d/g", "d/g", false, false},
		{"link /g /i", "g", false, true},
		{"unlink /h", "g", false, true},
		{"chmod /g 7", "g", false, true},
		{"chmod /d 7", "d", false, true},
		{"setxattr /g 1", "g", false, true},
		{"write /g 1", "g", true, true},
		{"truncate /g 100", "g", true, true},
		{"truncate /g 0", "g", false, false},
		{"fsync /g", "g", false, false},
	} {
		f := after(t, timed, before)
		moment := f.Moment()
		for _, o := range script(t, c.done) {
			f.Apply(o)
		}
		clock := model.ClockOf(moment + 1)
		if err := f.CheckTimes(f.Observed(), moment, clock); err != nil {
			t.Errorf("%s: %v", c.done, err)
		}
		for i, is := range []bool{c.mtime, c.ctime} {
			old := func(e *agent.Entry) {
				if e.Path == c.path && i == 0 {
					e.Mtime = clock - 1
				} else if e.Path == c.path {
					e.Ctime = clock - 1
				}
			}
			err := f.CheckTimes(changed(t, f, old), moment, clock)
			var m *model.Mismatch
			if wrong := errors.As(err, &m); wrong != is {
				t.Errorf("%s: an old time %d of %s: %v", c.done, i, c.path, err)
			}
		}
	}
}

// changed returns the tree of f with changed entries.
func changed(t *testing.T, f *model.FS, change func(e *agent.Entry)) *model.Observed {
	t.Helper()
	list := f.Observed().Entries()
	for i := range list {
		change(&list[i])
	}
	s, err := model.Observe(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHole: data where lseek(2) says that a hole is, is never allowed; nor is a time before all
// clocks, or far behind them.
func TestHole(t *testing.T) {
	for kind, change := range map[string]func(e *agent.Entry){
		"a hole with data":         func(e *agent.Entry) { e.InHole = 1 },
		"a time before all clocks": func(e *agent.Entry) { e.Ctime = 0 },
		"a time far behind them":   func(e *agent.Entry) { e.Ctime = 1<<63 - 1 },
		"agrees":                   func(*agent.Entry) {},
	} {
		f := after(t, timed, "creat /f; truncate /f 9000; sync")
		s := changed(t, f, func(e *agent.Entry) {
			if e.Path == "f" {
				change(e)
			}
		})
		if is := f.Agrees(s); is != (kind == "agrees") {
			t.Errorf("%s: agrees %v, %v", kind, is, f.Allowed(s))
		}
	}
}
