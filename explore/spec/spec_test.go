package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore"
)

// raid is the stack that the documentation shows.
func raid(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/examples/raid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

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
	if got := strings.Join(paths, " "); got != "/dev/fswrd0 /dev/fswrd1 /dev/md0 /mnt/a" || s.Disks[1] != 16<<20 || s.Checker != "sync" ||
		top.Options.Mkfs != "-b 1024" {
		t.Errorf("%s, %+v", got, s)
	}
}

func TestWrongSpecs(t *testing.T) {
	for change, wrong := range map[[2]string]string{
		{"component: raid", "component: raid7"}: "raid7",
		{"[/dev/md0]", "[/dev/md1]"}:            "no /dev/md1",
		{"16M, 16M", "16M, 16M, 16M"}:           "/dev/fswrd2 is no part",
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
		t.Error("an empty stack")
	}
	if _, err := FileSystem("ext7", "", "", "sync", ""); err == nil {
		t.Error("a file system that is not there")
	}
}

// A file's paths hold from wherever it is read.
func TestPathsAreOfTheFile(t *testing.T) {
	path := write(t, strings.NewReplacer("ext3", "mine.yaml", "checker: sync", "checker: ./check.sh").Replace(raid(t)))
	s, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if dir := filepath.Dir(path); s.Layers[1].Component != dir+"/mine.yaml" || s.Checker != dir+"/check.sh" || s.Layers[0].Component != "raid" {
		t.Errorf("%+v", s)
	}
}

// What the checkers that are shipped need, a flat file system does not have.
func TestFlatFileSystems(t *testing.T) {
	checker := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(checker, []byte("mutate: [sync]\ncheck: \"true\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fs, checker string
		taken       bool
	}{{"bfs", "sync", false}, {"bfs", checker, true}, {"minix", "sync", true}} {
		s, err := FileSystem(c.fs, "", "", c.checker, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (Run{Spec: s}).Config(); (err == nil) != c.taken {
			t.Errorf("%s with %s: %v", c.fs, c.checker, err)
		}
	}
}
