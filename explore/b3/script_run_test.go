package b3

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// runScript runs the script of a workload with the helper functions in testdata/xfstests on a new
// file system of the host's kernel, and returns the lines that it prints.
func runScript(t *testing.T, fs, workload string) []string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	w, err := Parse(workload)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	at, image, script := filepath.Join(dir, "mnt"), filepath.Join(dir, "image"),
		filepath.Join(dir, "script")
	err = os.Mkdir(at, 0o755)
	if err == nil {
		err = os.WriteFile(image, nil, 0o600)
	}
	if err == nil {
		err = os.Truncate(image, 128<<20)
	}
	if err == nil {
		err = os.WriteFile(script, []byte(w.Complete().Script(fs, "a test")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	bash := exec.Command("bash", script)
	bash.Dir = "testdata/xfstests"
	bash.Env = append(os.Environ(), "FSTYP="+fs, "SCRATCH_MNT="+at, "IMAGE="+image)
	out, err := bash.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", fs, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// The script of a workload runs, and shows what a crash leaves: what was made persistent is there,
// and what was not is gone.
func TestScriptRuns(t *testing.T) {
	const workload = "write x append; fsync x; orphan x; write x append; fsync x; close x; " +
		"chmod A 700; creat A/foo; write A/foo 0 5000; setxattr A/foo; link A/foo bar; " +
		"falloc bar punch|keep 0 4096; mmapwrite bar 0 100; fsync bar; sync; creat baz; unlink bar"
	for _, fs := range []string{"ext4", "btrfs"} {
		lines := runScript(t, fs, workload)
		for prefix, want := range map[string]bool{"./A d 700 ": true, "./x ": false,
			"./A/foo f ": true, "./bar f ": true, "./baz ": false} {
			has := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) })
			if has != want {
				t.Errorf("%s: a line with %q: %t, want %t\n%s", fs, prefix, has, want,
					strings.Join(lines, "\n"))
			}
		}
	}
}
