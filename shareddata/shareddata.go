// Package shareddata finds the images, logs and tables that others made, which tests are held against. They are kept
// beside the project and not in it.
package shareddata

import (
	"os"
	"path/filepath"
	"testing"
)

// folder is where they are, from the project's folder.
const folder = "../shared/data"

// Path returns the path of one of them, given by its parts. A test is skipped where there is no such folder beside the
// project. It fails where FSWARD_DATA names one that is not there, and where the folder lacks what is asked for: a
// name that is wrong must not look like a machine without the data.
func Path(t testing.TB, parts ...string) string {
	t.Helper()
	root, named := os.LookupEnv("FSWARD_DATA")
	if !named {
		root = filepath.Join(project(t), folder)
	}
	if _, err := os.Stat(root); err != nil {
		if named {
			t.Fatalf("FSWARD_DATA: %v", err)
		}
		t.Skipf("SKIPPED: nothing is held against the data of others: %v (FSWARD_DATA names another folder)", err)
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the shared data lacks what this test needs: %v", err)
	}
	return path
}

// project returns the folder of the module whose test runs.
func project(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("not run in the project's folder: no go.mod above")
		}
		dir = up
	}
}
