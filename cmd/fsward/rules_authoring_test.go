package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	namedFile  = regexp.MustCompile("^File `([^`]+)`:$")
	exitStatus = regexp.MustCompile(` # exit status (\d+)$`)
)

// TestAuthoring follows docs/user/authoring.md to the letter: it writes the files, runs each
// command line, and looks for what the document says that they print.
func TestAuthoring(t *testing.T) {
	text, err := os.ReadFile("../../docs/user/authoring.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lines := strings.Split(string(text), "\n")
	file, printed, commands := "", "", 0
	for i := 0; i < len(lines); i++ {
		if m := namedFile.FindStringSubmatch(lines[i]); m != nil {
			file = m[1]
		}
		language, begins := strings.CutPrefix(lines[i], "```")
		if !begins {
			continue
		}
		end := i + 1
		for lines[end] != "```" {
			end++
		}
		block := lines[i+1 : end]
		i = end
		switch language {
		case "prolog":
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Join(block, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		case "sh":
			printed = ""
			for _, line := range block {
				commands++
				printed += runLine(t, dir, line)
			}
		case "text":
			for _, line := range block {
				if !strings.Contains(printed, line) {
					t.Errorf("nothing printed %q; what was printed:\n%s", line, printed)
				}
			}
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands were found in the document", commands)
	}
}

// runLine runs a command line in a folder; its exit status is 0, or what a comment at its end says.
func runLine(t *testing.T, dir, line string) string {
	t.Helper()
	want := 0
	if m := exitStatus.FindStringSubmatch(line); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("%s\nexit status %d, want %d:\n%s", line, got, want, out)
	}
	return string(out)
}
