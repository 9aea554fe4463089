package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"

	"fsward/invariants/bundle"
)

// A manifest names the bundle and sets rules. A setting needs a reason.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "bundle")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	manifest := `{"format": 1, "name": "site", "version": "2",
		"rules": {"ext3/15": {"enabled": false, "reason": "a test of the backup"}}}`
	if err := os.WriteFile(filepath.Join(dir, bundle.Manifest), []byte(manifest), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	b, err := bundle.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Name, b.Version)
	for _, s := range b.Settings {
		fmt.Println(s.Rule, s.Reason)
	}
	// Output:
	// site 2
	// ext3/15 a test of the backup
}
