//go:build vmtest

package vmrun

import (
	"path/filepath"
	"testing"

	"fsward/hostd/guardtest"
)

// buildFsward builds the program and returns its path.
func buildFsward(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fsward")
	guardtest.Run(t, "go", "build", "-o", path, "fsward/cmd/fsward")
	return path
}
