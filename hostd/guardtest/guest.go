package guardtest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Project returns the folder of the module whose test runs.
func Project(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("not run in the project's folder: no go.mod above")
		}
	}
}

// GuestDir returns the folder of the guest's kernel and initramfs: $FSWARD_GUEST, or build/guest of
// the project.
func GuestDir(t testing.TB) string {
	return cmp.Or(os.Getenv("FSWARD_GUEST"), filepath.Join(Project(t), "build/guest"))
}

// BuildGuest builds the guest's kernel and initramfs if they are not there, and returns their
// folder.
func BuildGuest(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(GuestDir(t))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(Project(t), "guest/build.sh"),
		dir).CombinedOutput(); err != nil {
		t.Fatalf("cannot build the guest: %v\n%s", err, out)
	}
	return dir
}
