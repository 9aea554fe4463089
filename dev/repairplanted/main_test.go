package main

import (
	"strings"
	"testing"
)

const source = "int a;\n\tif (x)\n\t\treturn 1;\n\tif (y)\n\t\treturn 1;\n"

// TestPlantChangesTheLineAfterAText changes one line, and no other that is the same.
func TestPlantChangesTheLineAfterAText(t *testing.T) {
	b := bug{File: "x.c", After: "if (y)", Line: "return 1;", Becomes: "return 0;"}
	got, err := b.plant(source)
	want := "int a;\n\tif (x)\n\t\treturn 1;\n\tif (y)\nreturn 0;\n"
	if err != nil || got != want {
		t.Errorf("plant: %q, %v; want %q", got, err, want)
	}
	wrong := []bug{{After: "if (z)", Line: "return 1;"}, {After: "if (y)", Line: "return 2;"}}
	for _, b := range wrong {
		if got, err := b.plant(source); err == nil {
			t.Errorf("plant %+v: %q; want an error", b, got)
		}
	}
}

// TestBugs reads the list of bugs: at least twelve, each with another name. Two change the same
// line only if other damages show them.
func TestBugs(t *testing.T) {
	bugs, err := parse(bugsText)
	if err != nil || len(bugs) < 12 {
		t.Fatalf("%d bugs, %v; want 12 or more", len(bugs), err)
	}
	seen := map[string]bool{}
	for _, b := range bugs {
		place := b.File + b.After + b.Line + b.Fields
		if seen[b.Name] || seen[place] || b.Line == b.Becomes {
			t.Errorf("bug %s stands twice, or changes nothing", b.Name)
		}
		seen[b.Name], seen[place] = true, true
	}
	if _, err := parse([]byte("- bug: x\n")); err == nil || !strings.Contains(err.Error(), "x") {
		t.Errorf("a bug without a line: %v; want an error", err)
	}
}

// TestCount counts findings by kind, and refuses a test that tried nothing.
func TestCount(t *testing.T) {
	r, err := count([]byte(`{"event":"finding","kind":"cycle"}
{"event":"finding","kind":"again"}
{"event":"finding","kind":"cycle"}
{"event":"tested","damages":3}
`))
	if err != nil || r.String() != "again 1, cycle 2" {
		t.Errorf("count: %v, %v", r, err)
	}
	for _, events := range []string{"", `{"event":"tested","damages":0}`, "{"} {
		if r, err := count([]byte(events)); err == nil {
			t.Errorf("count of %q: %v; want an error", events, r)
		}
	}
}
