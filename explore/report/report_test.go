package report

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/exploretest"
	"fsward/explore/spec"
)

// runToy explores a toy that says to be a file system.
func runToy(t *testing.T, bug exploretest.Bug, fs, mount, checker string) Run {
	t.Helper()
	origin, err := json.Marshal(spec.Run{Spec: spec.Spec{Checker: checker, Layers: []spec.Layer{{Component: fs, MountOptions: mount}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, dir := exploretest.New(), t.TempDir()
	cfg := explore.Config{System: s, Dir: dir, Origin: origin, Depth: 2, Strategy: explore.BreadthFirst,
		Stack: explore.Stack{Top: exploretest.NewToy(s, bug), Checker: &exploretest.ToyChecker{Keys: 1, Values: 1}}}
	if _, err := explore.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReport(t *testing.T) {
	runs := []Run{runToy(t, "", "ext3", "", "sync"), runToy(t, exploretest.DroppedFlush, "vfat", "noatime,<b>", "sync"), runToy(t, "", "ext3", "", "reasonable")}
	var b bytes.Buffer
	if err := Write(&b, runs); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<th>ext3</th>", "vfat -o noatime,&lt;b&gt;", "✗ synced byte lost", `<td class="none">–`, "key 0 has 0, want 1", `<rect class="lost"`, "crash</text>",
		"fsward explore replay " + runs[1].Dir, "1. toy put 0 1", "2. toy sync"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if n := strings.Count(text, `<td class="bad"`); n != 1 {
		t.Errorf("%d cells with errors", n)
	}
	if strings.Contains(text, "<b>") {
		t.Error("what users name is not escaped")
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder without a run")
	}
}
