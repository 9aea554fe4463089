package explore_test

import (
	"strings"
	"testing"

	"fsward/explore"
)

// TestOperationsUntilTheCrash checks that the operations of an error end with the window in which
// the crash was, and say how many followed.
func TestOperationsUntilTheCrash(t *testing.T) {
	step := []string{"mkdir /a", "now 0", "start 1", "mkdir /b", "end 1", "now 10"}
	for _, c := range []struct {
		crash *explore.CrashError
		last  string
	}{
		{nil, "  2. now 10\n"},
		{&explore.CrashError{Window: 0}, "  2. now 0\n  (4 more, after the crash)\n"},
		{&explore.CrashError{Window: 1}, "  2. end 1\n  (1 more, after the crash)\n"},
		{&explore.CrashError{Window: 10}, "  2. now 10\n"},
		{&explore.CrashError{Window: 7}, "  2. now 10\n"}, // too many operations to list them
	} {
		e := &explore.Error{Did: [][]string{{"sync", "now 0", "sync"}, step}, Crash: c.crash}
		var b strings.Builder
		explore.DescribeOperations(e, &b)
		const first = "Operations, by step:\n  1. sync\n  1. now 0\n  1. sync\n  2. mkdir /a\n"
		if !strings.HasPrefix(b.String(), first) || !strings.HasSuffix(b.String(), c.last) {
			t.Errorf("%+v:\n%s", c.crash, &b)
		}
	}
}

// A look at the tree is left out, unless there is no crash: then it may have shown the error.
func TestOperationsWithoutLooks(t *testing.T) {
	did := [][]string{{"read the clock", "mkdir /a", "read the tree /mnt", "now 0"}}
	for want, crash := range map[string]*explore.CrashError{
		"Operations, by step:\n  1. mkdir /a\n  1. now 0\n": {Window: 0},
		"Operations, by step:\n  1. read the clock\n  1. mkdir /a\n  1. read the tree /mnt\n" +
			"  1. now 0\n": nil,
	} {
		var b strings.Builder
		explore.DescribeOperations(&explore.Error{Did: did, Crash: crash}, &b)
		if b.String() != want {
			t.Errorf("%q, want %q", &b, want)
		}
	}
}
