package fsward

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun has the packages whose examples cannot run, because they need a mount, a guest, sources
// or a testing.T.
var notRun = []string{"blocktap/fuse", "dev/abitest", "dev/checkerbuild", "explore/machine",
	"explore/recordtest", "repair/growing"}

var exampleFunc = regexp.MustCompile(`(?m)^func Example\w*\(\) \{$`)

// TestPackagesAreDocumented checks that each package has a package comment, an example unless it
// is a command, and a place in the section Packages of the architecture document.
func TestPackagesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(architecture)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Packages\n")
	if !found {
		t.Fatalf("%s has no section Packages", architecture)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Dir", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Name, Doc, Dir string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path := internalPath(p.ImportPath)
		if path == "" {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", path)
		}
		if !strings.Contains(section, "`"+path+"`") {
			t.Errorf("%s does not describe %s in its section Packages", architecture, path)
		}
		if p.Name != "main" {
			checkExample(t, path, p.Dir)
		}
	}
}

// checkExample checks that a test file of a package has an example, and that its output is checked
// unless notRun has the package.
func checkExample(t *testing.T, path, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	example, output := false, false
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if at := exampleFunc.FindIndex(text); at != nil {
			example = true
			output = output || strings.Contains(string(text[at[1]:]), "// Output:")
		}
	}
	if !example || output == slices.Contains(notRun, path) {
		t.Errorf("%s: example %t, with output %t; notRun lists the packages without output",
			path, example, output)
	}
}
