// Package shareddata finds images, logs and tables from other sources, which tests use as
// references. They are in a folder beside the project and not part of it.
package shareddata

import (
	"os"
	"path/filepath"
	"testing"
)

// folder is the default path of the shared data, relative to the project's folder.
const folder = "../shared/data"

// Path returns the path of a file or folder of the shared data. parts are the elements of its path
// in the folder of the shared data. Path skips the test if the machine has no such folder. The
// environment variable FSWARD_DATA names another folder. The test fails if that folder or the
// requested file does not exist, so that a wrong name does not look like a machine without the
// data.
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
		t.Skipf("SKIPPED: the shared data is missing: %v (FSWARD_DATA can name another folder)", err)
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the shared data lacks a file that this test needs: %v", err)
	}
	return path
}

// project returns the folder of the module. It is the working directory of the test or above it.
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
			t.Fatal("the test does not run in the project's folder: no go.mod found")
		}
		dir = up
	}
}
