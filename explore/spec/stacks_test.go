package spec

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fsward/explore/checkers"
)

// TestShippedStacks checks that a run can be made of each shipped stack, with each value of each
// parameter, and that what is kept with the run gives the same run.
func TestShippedStacks(t *testing.T) {
	for _, name := range Stacks() {
		s, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Doc == "" || len(s.Parameters) == 0 {
			t.Errorf("%s has no doc or no parameters", name)
		}
		for parameter, values := range s.Parameters {
			for _, value := range values {
				r := Run{Spec: s}
				if err := r.Set(parameter, value); err != nil {
					t.Fatal(err)
				}
				cfg, err := r.Config()
				if err != nil {
					t.Errorf("%s, %s=%s: %v", name, parameter, value, err)
					continue
				}
				saved, err := Saved(cfg.Origin)
				if err != nil {
					t.Fatal(err)
				}
				again, err := saved.Config()
				if err != nil || string(again.Origin) != string(cfg.Origin) {
					t.Errorf("%s, %s=%s: %v; the saved run is another one", name, parameter, value, err)
				}
			}
		}
	}
	if _, err := Load("sqllite"); err == nil || !strings.Contains(err.Error(), "sqlite") {
		t.Errorf("the error for an unknown stack does not list the stacks: %v", err)
	}
}

// stackText is a stack with parameters.
const stackText = `
packages: [b, a]
parameters: {fs: [ext4, xfs], mode: [ordered, writeback]}
disks: [auto]
layers: [{component: $fs, at: /mnt/a, on: [/dev/fswrd0], mount_options: data=$mode}]
script: {packages: [c], mutate: ["true"], check: "true"}
`

// TestParameters sets parameters, and looks at the layers, at the variables of the shell, and at
// the size of the disk.
func TestParameters(t *testing.T) {
	s, err := parse([]byte(stackText))
	if err != nil {
		t.Fatal(err)
	}
	defaults := s
	if err := s.Set("fs", "xfs"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		Spec
		kind, fs string
	}{{defaults, "ext4", "FS=ext4"}, {s, "xfs", "FS=xfs"}} {
		r := Run{Spec: tc.Spec}
		top, err := r.Components()
		if err != nil {
			t.Fatal(err)
		}
		checker, err := r.checker(top)
		if err != nil {
			t.Fatal(err)
		}
		env := []string{tc.fs, "MODE=ordered"}
		script, ok := checker.(*checkers.Script)
		if !ok || !slices.Equal(script.Env, env) || !slices.Equal(top.Options.Env, env) {
			t.Errorf("%s: variables %v, %v", tc.kind, top.Options.Env, checker)
		}
		e, err := tc.expanded()
		if err != nil || top.Kind.Name != tc.kind || top.Options.Mount != "data=ordered" ||
			uint64(e.Disks[0]) != top.Kind.Bytes {
			t.Errorf("%s: %+v, %v", tc.kind, e, err)
		}
	}
	needs, err := s.AllNeeds()
	if err != nil || fmt.Sprint(needs.Packages) != "[a b c]" {
		t.Errorf("packages %v, %v", needs.Packages, err)
	}
	for assignment, want := range map[[2]string]string{
		{"fs", "ext9"}: "one of ext4, xfs", {"size", "1"}: "it has fs, mode",
	} {
		if err := s.Set(assignment[0], assignment[1]); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", assignment, err, want)
		}
	}
}

// TestInvalidStacks: the error of an invalid stack names the cause.
func TestInvalidStacks(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"{fs: [ext4, xfs],", "{FS: [ext4],"}:     `"FS" is not a name`,
		{"[ordered, writeback]", "[]"}:            "mode has no value",
		{"data=$mode", "data=$kind"}:              `no parameter "kind"`,
		{"[b, a]", "['$(reboot)']"}:               "not the name of a Debian package",
		{"script:", "checker: sync\nscript:"}:     "both a checker and a script",
		{"component: $fs", "component: raid"}:     "cannot be auto",
		{"packages: [c]", "packages: ['../../']"}: "not the name of a Debian package",
	} {
		text := strings.Replace(stackText, change[0], change[1], 1)
		s, err := parse([]byte(text))
		if err == nil {
			_, err = Run{Spec: s}.Config()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", change[1], err, want)
		}
	}
}

// TestDocumentedStacks reads the stacks that the documentation shows.
func TestDocumentedStacks(t *testing.T) {
	text, err := os.ReadFile("../../docs/user/stacks.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```yaml\ndoc: .*?```").FindAllString(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d stacks are shown", len(blocks))
	}
	for _, b := range blocks {
		s, err := parse([]byte(strings.Trim(strings.TrimPrefix(b, "```yaml"), "`")))
		if err == nil {
			_, err = Run{Spec: s}.Config()
		}
		if err != nil {
			t.Errorf("%v\n%s", err, b)
		}
	}
}
