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

// architecture is the document with the import graph: a code block that begins with importsFence.
// Its lines have the form "package → packages".
const architecture = "docs/dev/architecture.md"

const importsFence = "```imports"

// An importGraph maps each package of the project to the packages that it may import.
type importGraph map[string][]string

// allows reports whether a package may import another. On the right side of an arrow, "x/..." means
// x and all packages below it, and "*" means all packages except those of cmd and dev.
func (g importGraph) allows(from, to string) bool {
	return slices.ContainsFunc(g[from], func(pattern string) bool {
		if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
			return to == folder || strings.HasPrefix(to, folder+"/")
		}
		tool := strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "dev/")
		return pattern == to || pattern == "*" && !tool
	})
}

// readGraph reads the graph from the architecture document.
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
			return nil, fmt.Errorf("line %q: expected one line PACKAGE → PACKAGES for each package",
				line)
		}
		g[from] = strings.Fields(to)
	}
	return g, nil
}

// A goPackage is the part of go list's output about a package that the test needs.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// TestImportArrows compares the imports of each package with the graph in the architecture
// document. It fails if the graph lacks an import or a package, or contains a package that does not
// exist.
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
		from := internalPath(p.ImportPath)
		if from == "" {
			continue
		}
		exists[from] = true
		if _, drawn := graph[from]; !drawn {
			t.Errorf("the graph has no line for %s: add %q", from, from+" → "+internalPaths(p.Imports))
			continue
		}
		for _, imp := range p.Imports {
			if to := internalPath(imp); to != "" && !graph.allows(from, to) {
				t.Errorf("%s imports %s, which the graph does not allow", from, to)
			}
		}
	}
	for from := range graph {
		if !exists[from] {
			t.Errorf("the graph has a line for %s, which does not exist", from)
		}
	}
}

// internalPath returns the path of a package of this module without the module's name, and "" for
// any other package.
func internalPath(importPath string) string {
	path, _ := strings.CutPrefix(importPath, "fsward/")
	if path == importPath {
		return ""
	}
	return path
}

// internalPaths returns the paths of this module's packages among imports, separated by spaces.
func internalPaths(imports []string) string {
	var list []string
	for _, imp := range imports {
		if to := internalPath(imp); to != "" {
			list = append(list, to)
		}
	}
	return strings.Join(list, " ")
}
