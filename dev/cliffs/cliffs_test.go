package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/dev/cost"
	"fsward/dev/load"
	"fsward/dev/mix"
)

// at returns a sample of some records, time, and rows of the rule r.
func at(records int, seconds float64, rows int64) sample {
	took := time.Duration(seconds * float64(time.Second))
	return sample{What: "phase 1", Work: float64(records), Spent: cost.Spent{
		Records: records, CPU: took,
		Parts: map[string]time.Duration{"rule r": took / 2, cost.Interpretation: took / 2},
		Rows:  map[string]int64{"rule r": rows}}}
}

// TestCliffs checks which growth is a cliff, and what it is put down to.
func TestCliffs(t *testing.T) {
	sizes := []int{1000, 2000, 4000}
	for _, tc := range []struct {
		name  string
		at    []sample
		floor time.Duration
		want  string
	}{
		{"in proportion", []sample{at(100, 1, 500), at(200, 2, 1000), at(400, 4, 2000)}, 0, ""},
		{"a square of time", []sample{at(100, 1, 100), at(200, 4, 200), at(400, 16, 400)}, 0,
			"slope 2.00"},
		{"rows only", []sample{at(100, 1, 100), at(200, 2, 400), at(400, 4, 1600)}, 0, "rule r"},
		{"few rows", []sample{at(100, 1, 1), at(200, 2, 4), at(400, 4, 16)}, 0, ""},
		{"too fast to tell", []sample{at(100, .001, 9), at(200, .01, 9), at(400, .07, 9)}, 0, ""},
		{"the floor hides a square", []sample{at(100, 2, 9), at(200, 5, 9), at(400, 17, 9)}, time.Second,
			"slope 2.00"},
		{"more records than operations",
			[]sample{at(100, 1, 100), at(400, 4, 400), at(1600, 16, 1600)}, 0, ""},
		{"fewer records than operations", []sample{at(100, 1, 9), at(100, 2, 9), at(100, 4, 9)}, 0, ""},
		{"a square without records", []sample{at(100, 1, 9), at(100, 4, 9), at(100, 16, 9)}, 0,
			"slope 2.00"},
	} {
		var lines []string
		for _, c := range cliffs(sizes, tc.at, tc.floor) {
			lines = append(lines, c.String())
		}
		if got := strings.Join(lines, "\n"); (got == "") != (tc.want == "") ||
			!strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestMinimize checks that the minimizer drops all that a cliff does not need, and nothing else.
func TestMinimize(t *testing.T) {
	step := func(op string) mix.Step { return mix.Step{Op: op, Weight: 1, On: "any"} }
	m := mix.Mixture{FS: "btrfs", Mount: []string{"nodatacow"}, Phases: []mix.Phase{
		{Steps: []mix.Step{step("create"), step("mkdir"), step("link")}},
		{Steps: []mix.Step{step("write")}, Once: []string{"snapshot", "balance-data"}},
		{Once: []string{"remove-all"}},
	}}
	needs := func(less mix.Mixture) (cliff, bool) {
		text := less.String()
		return cliff{Part: "now"}, strings.Contains(text, "link") && strings.Contains(text, "snapshot")
	}
	got, c := minimize(m, cliff{Part: "before"}, needs)
	if want := "btrfs: 1 link(any); then snapshot"; got.String() != want || c.Part != "now" {
		t.Errorf("got %s (%s), want %s", got, c.Part, want)
	}
	whole, c := minimize(m, cliff{Part: "before"}, func(mix.Mixture) (cliff, bool) {
		return cliff{}, false
	})
	if whole.String() != m.String() || c.Part != "before" {
		t.Errorf("nothing can be dropped, and yet %s (%s) is left", whole, c.Part)
	}
}

func TestTopFunction(t *testing.T) {
	const head = " flat  flat%   sum%        cum   cum%\n"
	const text = "== phase 1\nType: cpu\n" + head + " 0.1s 60% 60% 0.1s 60%  fsward/interp.f\n" +
		"== check\n" + head + " 0.2s 70% 70% 0.2s 70%  fsward/interp.g\n"
	if got := topFunction(text, "check"); got != "fsward/interp.g 70%" {
		t.Errorf("got %q", got)
	}
	if got := topFunction(text, "phase 2"); got != "" {
		t.Errorf("got %q for a phase that is not there", got)
	}
}

// TestMeasure measures small mixtures of each kind on each file system.
func TestMeasure(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	fsload, err := load.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	phases := []mix.Phase{{Steps: []mix.Step{{Op: "create", Weight: 1, On: "any"}}},
		{Steps: []mix.Step{{Op: "chmod", Weight: 1, On: "any"}}, Once: []string{"remove-all"}}}
	for _, tc := range []struct {
		m    mix.Mixture
		what []string
	}{
		{mix.Mixture{FS: "btrfs", Phases: phases}, []string{"phase 1", "phase 2", "check"}},
		{mix.Mixture{FS: "ext3", Phases: phases}, []string{"phase 1", "phase 2", "check"}},
		{mix.Mixture{FS: "btrfs", Phases: phases[:1], Alter: "inode_item.nlink=7"},
			[]string{"phase 1", "altered"}},
		{mix.Mixture{FS: "ext3", Phases: phases[:1], Alter: "inode.links_count=7"},
			[]string{"phase 1", "altered"}},
		{mix.Mixture{FS: "btrfs", Phases: phases[:1], Generated: true}, []string{"check"}},
		{mix.Mixture{FS: "ext3", Phases: phases[:1], Generated: true}, []string{"check"}},
		{mix.Mixture{FS: "btrfs", Phases: phases[:1], Generated: true, Alter: "inode_item.nlink=7"},
			[]string{"check"}},
	} {
		dir := t.TempDir()
		file, err := write(dir, tc.m)
		if err != nil {
			t.Fatal(err)
		}
		samples, err := job{n: 50, fsload: fsload, file: file, dir: dir}.measure(t.Context(), tc.m)
		if err != nil {
			t.Errorf("%s: %v", tc.m, err)
			continue
		}
		var what []string
		for _, s := range samples {
			what = append(what, s.What)
			if s.Sound != (s.Verdict == "holds") || s.Sound == (s.What == "altered" || tc.m.Generated &&
				tc.m.Alter != "") || s.CPU == 0 || s.Sound && s.What != "phase 2" &&
				s.Records < 50 {
				t.Errorf("%s: %+v", tc.m, s)
			}
		}
		if !slices.Equal(what, tc.what) {
			t.Errorf("%s: %q, want %q", tc.m, what, tc.what)
		}
	}
}
