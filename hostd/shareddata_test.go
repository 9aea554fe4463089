package hostd

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedData returns the path of a file among the images and logs that others made, which are kept
// beside the project. The test is skipped, and says so, where they are not.
func sharedData(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("FSWARD_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no shared data at %s (FSWARD_DATA names another folder)", path)
	}
	return path
}
