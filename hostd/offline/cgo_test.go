package offline_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestBuildsWithoutCgo builds this package without cgo: it must need neither libvirt nor a C
// compiler.
func TestBuildsWithoutCgo(t *testing.T) {
	for _, args := range [][]string{{"build", "."}, {"list", "-deps", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		for _, pkg := range strings.Fields(string(out)) {
			if strings.Contains(pkg, "libvirt") || pkg == "fsward/hostd/vm" {
				t.Errorf("this package imports %s", pkg)
			}
		}
	}
}
