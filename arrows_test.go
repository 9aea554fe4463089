package fsward

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the import graph of the project: which folders a folder may import. A folder may
// always import what is below itself.
var mayImport = map[string][]string{
	"change":     {},
	"blocktap":   {},
	"interp":     {"change"},
	"invariants": {"change"},
	"explore":    {"change", "blocktap", "interp", "invariants"},
	"hostd":      {"change", "blocktap", "interp", "invariants", "explore"},
	"cmd":        {"change", "blocktap", "interp", "invariants", "explore", "hostd"},
	"dev":        {"change", "blocktap", "interp", "invariants", "explore", "hostd"}, // nothing but tests imports it
	"shareddata": {},                                                                 // of tests
}

// TestImportArrows keeps the direction of imports that docs/dev/architecture.md draws.
func TestImportArrows(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	checked := 0
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "fsward" {
			continue
		}
		from := folder(p.ImportPath)
		allowed, known := mayImport[from]
		if !known {
			t.Errorf("%s is in a folder that docs/dev/architecture.md does not place", p.ImportPath)
		}
		for _, imp := range p.Imports {
			if to := folder(imp); to != "" && to != from && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, imp, from, allowed)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Fatal("no import was checked")
	}
}

// folder is the top folder of one of our packages, "" for any other.
func folder(importPath string) string {
	rest, ours := strings.CutPrefix(importPath, "fsward/")
	if !ours {
		return ""
	}
	top, _, _ := strings.Cut(rest, "/")
	return top
}
