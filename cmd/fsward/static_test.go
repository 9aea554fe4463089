package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatic builds fsward without cgo, as make build STATIC=1 does. Such a binary does all that
// needs no guest, and says how to get the rest.
func TestStatic(t *testing.T) {
	dir := t.TempDir()
	binary, image := filepath.Join(dir, "fsward"), filepath.Join(dir, "e.img")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	for _, cmd := range []*exec.Cmd{build, exec.Command("truncate", "-s", "16M", image),
		exec.Command("mkfs.ext3", "-q", "-F", image)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	const without = "built without libvirt"
	for _, tc := range []struct {
		args   string
		status int
		says   string
	}{
		{"check " + image, exitHolds, "holds"},
		{"dump " + image, exitHolds, "superblock"},
		{"rules list ext3", exitHolds, "ext3/1 "},
		{"vm run --disk " + image, exitUndecided, without},
		{"demo --dir " + dir, exitUndecided, without},
		{"guard --disk " + image + " --listen unix:" + dir + "/s --domain vm", exitUndecided, without},
		{"explore run --out " + dir + "/run --fs ext3 --checker sync", exitUndecided, without},
	} {
		cmd := exec.Command(binary, strings.Fields(tc.args)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		status := 0
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != tc.status || !strings.Contains(string(out), tc.says) {
			t.Errorf("fsward %s: exit status %d, want %d and %q:\n%.400s", tc.args, status, tc.status,
				tc.says, out)
		}
	}
}
