package vm

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRemoveAbandoned checks that folders of killed processes are removed, and that folders stay
// that are in use, were only just made, belong to somebody else or have another name.
func TestRemoveAbandoned(t *testing.T) {
	tmp := t.TempDir()
	for name, pid := range map[string]string{"x-killed": "999999999", "x-ended": "none", "x-half": "",
		"x-used": "999999999", "x-new": "", "x-theirs": "999999999", "y-killed": "999999999"} {
		run := filepath.Join(tmp, name, "run")
		if err := os.MkdirAll(filepath.Join(run, "libvirt"), 0o700); err != nil {
			t.Fatal(err)
		}
		if name != "x-new" {
			if err := os.WriteFile(configFile(run), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if pid != "none" {
			if err := os.WriteFile(pidFile(run), []byte(pid), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink(filepath.Join(tmp, "y-killed"), filepath.Join(tmp, "x-link")); err != nil {
		t.Fatal(err)
	}
	lock, err := lockDir(filepath.Join(tmp, "x-used", "run"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	stays := map[string]bool{"x-killed": false, "x-ended": false, "x-half": false, "x-used": true,
		"x-new": true, "y-killed": true, "x-link": true}
	if os.Geteuid() == 0 { // only root can give a folder away
		if err := os.Chown(filepath.Join(tmp, "x-theirs"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
		stays["x-theirs"] = true
	}
	if err := RemoveAbandoned(t.Context(), filepath.Join(tmp, "x-*"), "run"); err != nil {
		t.Fatal(err)
	}
	for name, want := range stays {
		if _, err := os.Lstat(filepath.Join(tmp, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
