package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"fsward/change"
)

func TestReplayOutcome(t *testing.T) {
	always, never, once := &replaying{
		times: 3,
		found: 3,
	}, &replaying{
		times: 3,
	}, &replaying{
		times: 3,
		found: 1,
	}
	for _, c := range []struct {
		name   string
		list   []*replaying
		failed int
		want   error
	}{
		{"each, each time", []*replaying{always, always}, 0, outcome(change.Violated)},
		{"none, ever", []*replaying{never, never}, 0, nil},
		{"one of two", []*replaying{always, never}, 0, outcome(change.Undecided)},
		{"now and then", []*replaying{once}, 0, outcome(change.Undecided)},
		{"one could not be shown", []*replaying{always, always}, 1, outcome(change.Undecided)},
		{"none could", []*replaying{never}, 1, outcome(change.Undecided)},
	} {
		if got := replayOutcome(c.list, c.failed); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A folder that has no error is told of before a guest is booted.
func TestReplayWithoutAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "001-lost")
	if _, err := newReplaying(dir, 1); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}
