package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/spec"
)

// A finding of the first workload may have no choices. Its folder gets the workload, a smaller one,
// and a script.
func TestWorkloadOfFinding(t *testing.T) {
	for want, steps := range map[uint32][][]explore.Choice{0: {{}}, 7: {{{N: 328, Value: 7}}}} {
		if got := workloadNumber(&explore.Error{Steps: steps}); got != want {
			t.Errorf("%v: number %d, want %d", steps, got, want)
		}
	}
	if got := workloadNumber(&explore.Error{}); got != 0 {
		t.Errorf("no step: number %d", got)
	}
	w, err := b3.Parse("creat foo; sync; link foo bar; fsync bar")
	if err != nil {
		t.Fatal(err)
	}
	d := workloadDescriber{dir: t.TempDir(), run: spec.Run{
		Spec:      spec.Spec{Layers: []spec.Layer{{Component: "btrfs"}}},
		Workloads: &spec.Workloads{Set: "seq-2", From: 100, To: 200}}}
	e := &explore.Error{Dir: "001", Kind: "lost", Property: "fsync", Summary: "/bar is gone"}
	if err := os.Mkdir(filepath.Join(d.dir, e.Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := d.write(e, 107, w, w[2:]); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		workloadName: "# number 107 of seq-2\n# skeleton: creat link; property: fsync\ncreat foo\n",
		minimalName:  "link foo bar\nfsync bar\n",
		scriptName:   "# lost: /bar is gone\n",
	} {
		text, err := os.ReadFile(filepath.Join(d.dir, e.Dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

// When the time is up, or the command is interrupted, no smaller workload is tried any more.
func TestMinimizeEnds(t *testing.T) {
	w, err := b3.Parse("creat foo; repeat 1000 link foo l%d; fsync foo")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	small, err := (&workloadDescriber{}).minimize(ctx, &explore.Error{}, w)
	if err != nil || len(small) != len(w) {
		t.Errorf("%d steps, %v", len(small), err)
	}
}

// TestDescribeSaysWhatItDoes checks that the search for a smaller workload, which can take minutes,
// is announced, and once for each finding.
func TestDescribeSaysWhatItDoes(t *testing.T) {
	var said []string
	d := workloadDescriber{dir: t.TempDir(), say: func(text string) { said = append(said, text) },
		run: spec.Run{Spec: spec.Spec{Layers: []spec.Layer{{Component: "btrfs"}}},
			Workloads: &spec.Workloads{Set: "seq-2", From: 100, To: 200}}}
	list := []explore.Error{{Dir: "001-lost", Kind: "lost"}, {Dir: "002-size", Surprise: true}}
	for _, e := range list {
		if err := os.Mkdir(filepath.Join(d.dir, e.Dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if err := d.describe(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "001-lost: leaving out") {
		t.Errorf("said %q", said)
	}
}
