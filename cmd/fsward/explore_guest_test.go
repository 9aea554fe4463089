package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/spec"
)

// A file system that the guest's kernel lacks is refused before the boot, and the error says which
// guest has it. A guest that is older than its sources is noticed.
func TestCheckGuest(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"guest/build.sh":             "",
		"explore/agent/op.go":        "",
		"build/g/explorer.cpio.zst":  "",
		"build/g/kernel/package":     "linux-image-6.1.0-56-cloud-amd64=6.1.192-2\n",
		"explore/agent/late_test.go": "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var f exploreFlags
	f.guest.Dir = "build/g"
	for fs, want := range map[string]string{"ext3": "",
		"f2fs": "guest/build.sh build/guest-amd64 amd64", "ntfs3": "kernel 6.12",
		"hfsplus": "Debian has no program"} {
		s, err := spec.FileSystem(fs, "", "", "sync", "")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = f.prepareGuest(&out, spec.Run{Spec: s})
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fs, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s: a new guest: %s", fs, &out)
		}
	}
	late := time.Now().Add(time.Hour)
	if err := os.Chtimes("explore/agent/late_test.go", late, late); err != nil {
		t.Fatal(err)
	}
	if name := newerSource("build/g"); name != "" {
		t.Errorf("a test makes the guest old: %s", name)
	}
	if err := os.Chtimes("explore/agent/op.go", late, late); err != nil {
		t.Fatal(err)
	}
	if name := newerSource("build/g"); name != "explore/agent/op.go" {
		t.Errorf("newer than the guest: %q", name)
	}
}

// A text that is repeated is printed a few times only.
func TestNotices(t *testing.T) {
	var out bytes.Buffer
	p := &exploreProgress{err: &out}
	for range 55 {
		p.event(explore.Event{Event: "strayed", Text: "jfsCommit ran"})
	}
	p.event(explore.Event{Event: "strayed", Text: "another ran"})
	const want = "strayed: jfsCommit ran\nstrayed: jfsCommit ran (10 times)\nstrayed: another ran\n"
	if out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// --files 0 means none.
func TestNodeLimit(t *testing.T) {
	var n nodeLimit
	for text, want := range map[string]nodeLimit{"0": -1, "1": 1, "12": 12} {
		if err := n.Set(text); err != nil || n != want || n.String() != text {
			t.Errorf("%s: %d, %q, %v", text, n, n.String(), err)
		}
	}
	for _, text := range []string{"", "-1", "x", "70000"} {
		if n.Set(text) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
