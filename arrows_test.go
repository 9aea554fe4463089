package fsward

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// architecture holds the import graph: the block of lines "package → packages" that begins with importsFence.
const architecture = "docs/dev/architecture.md"

const importsFence = "```imports"

// An importGraph says which packages of ours a package may import.
type importGraph map[string][]string

// allows reports whether a package may import another. On the right side of an arrow, "x/..." stands for
// x and what is below it, and "*" for every package but those of cmd and dev.
func (g importGraph) allows(from, to string) bool {
	return slices.ContainsFunc(g[from], func(pattern string) bool {
		if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
			return to == folder || strings.HasPrefix(to, folder+"/")
		}
		return pattern == to || pattern == "*" && !strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(to, "dev/")
	})
}

// readGraph reads the graph from the document on the architecture.
func readGraph() (importGraph, error) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		return nil, err
	}
	_, block, found := strings.Cut(string(text), importsFence+"\n")
	if !found {
		return nil, fmt.Errorf("%s has no block %s", architecture, importsFence)
	}
	block, _, _ = strings.Cut(block, "```")
	g := importGraph{}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		from, to, arrow := strings.Cut(line, "→")
		from = strings.TrimSpace(from)
		if _, twice := g[from]; !arrow || twice {
			return nil, fmt.Errorf("line %q: expected one line PACKAGE → PACKAGES for each package", line)
		}
		g[from] = strings.Fields(to)
	}
	return g, nil
}

// A goPackage is what go list says of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestImportArrows compares each package's imports with the graph that the document on the architecture
// draws: an import that is not drawn fails, and so does a package that is not drawn or no longer there.
func TestImportArrows(t *testing.T) {
	graph, err := readGraph()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exists := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		from := ours(p.ImportPath)
		if from == "" {
			continue
		}
		exists[from] = true
		if _, drawn := graph[from]; !drawn {
			t.Errorf("the graph has no line for %s: add %q", from, from+" → "+oursOf(p.Imports))
			continue
		}
		for _, imp := range p.Imports {
			if to := ours(imp); to != "" && !graph.allows(from, to) {
				t.Errorf("%s imports %s, which the graph does not draw", from, to)
			}
		}
	}
	for from := range graph {
		if !exists[from] {
			t.Errorf("the graph draws %s, which is no package", from)
		}
	}
}

// ours returns the path of one of our packages without the module's name; "" for any other.
func ours(importPath string) string {
	path, _ := strings.CutPrefix(importPath, "fsward/")
	if path == importPath {
		return ""
	}
	return path
}

// oursOf lists our packages among imports.
func oursOf(imports []string) string {
	var list []string
	for _, imp := range imports {
		if to := ours(imp); to != "" {
			list = append(list, to)
		}
	}
	return strings.Join(list, " ")
}
