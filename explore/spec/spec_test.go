package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
)

// raid returns the text of the stack file that the documentation shows.
func raid(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/raid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// write writes a stack file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stack.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	s, err := Read(write(t, raid(t)))
	if err != nil {
		t.Fatal(err)
	}
	top, err := s.Components()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range (explore.Stack{Top: top}).Components() {
		paths = append(paths, c.Path())
	}
	got := strings.Join(paths, " ")
	if got != "/dev/fswrd0 /dev/fswrd1 /dev/md0 /mnt/a" || s.Disks[1] != 16<<20 ||
		s.Checker != "sync" || top.Options.Mkfs != "-b 1024" {
		t.Errorf("%s, %+v", got, s)
	}
}

// TestInvalidSpecs: the error of an invalid stack file names the cause.
func TestInvalidSpecs(t *testing.T) {
	for change, wrong := range map[[2]string]string{
		{"component: raid", "component: raid7"}: "raid7",
		{"[/dev/md0]", "[/dev/md1]"}:            "no /dev/md1",
		{"16M, 16M", "16M, 16M, 16M"}:           "/dev/fswrd2 is not part",
		{"16M, 16M", "16M, 16Q"}:                "16Q",
		{"at: /mnt/a", "at: /dev/md0"}:          "already",
		{"checker", "chequer"}:                  "chequer",
		{"on: [/dev/fswrd0, ", "on: [/dev/x,"}:  "no /dev/x",
	} {
		s, err := Read(write(t, strings.Replace(raid(t), change[0], change[1], 1)))
		if err == nil {
			_, err = s.Components()
		}
		if err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q in place of %q: %v, want %q", change[1], change[0], err, wrong)
		}
	}
	if _, err := (Spec{}).Components(); err == nil {
		t.Error("an empty stack gives no error")
	}
	if _, err := FileSystem("ext7", "", "", "sync", ""); err == nil {
		t.Error("an unknown file system gives no error")
	}
}

// TestRelativePaths: paths in a stack file are relative to its folder.
func TestRelativePaths(t *testing.T) {
	text := raid(t)
	text = strings.Replace(text, "ext3", "mine.yaml", 1)
	text = strings.Replace(text, "checker: sync", "checker: ./check.sh", 1)
	path := write(t, text)
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	if s.Layers[0].Component != "raid" || s.Layers[1].Component != dir+"/mine.yaml" ||
		s.Checker != dir+"/check.sh" {
		t.Errorf("%+v", s)
	}
}

// TestFlatFileSystems: a flat file system accepts a script as its checker, and no shipped checker.
func TestFlatFileSystems(t *testing.T) {
	checker := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(checker, []byte("mutate: [sync]\ncheck: \"true\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fs, checker string
		ok          bool
	}{{"bfs", "sync", false}, {"bfs", checker, true}, {"minix", "sync", true}} {
		s, err := FileSystem(c.fs, "", "", c.checker, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Run{Spec: s}).Config(); (err == nil) != c.ok {
			t.Errorf("%s with %s: %v", c.fs, c.checker, err)
		}
	}
}
