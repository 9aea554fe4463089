package checkers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// parseScript returns the script with a text.
func parseScript(text []byte, at string) (*Script, error) {
	t, err := parseText(text)
	if err != nil {
		return nil, err
	}
	return NewScript(t, at)
}

// figure2 is the checker of figure 2 of EXPLODE as a script. docs/user/checkers.md shows it too.
const figure2 = `
doc: a file that was written synchronously is there after a crash
mutate:
- choose:
  - - {run: mkdir $AT/test-dir$N, n: 5}
  - - {run: rmdir $AT/test-dir$N, n: 5}
  - - rm $AT/test-file
  - - echo test > $AT/test-file
    - choose: [[sync], [sync $AT/test-file $AT]]
    - crash: now
check: |
  [ -e $AT/test-file ] || { echo file gone; exit 1; }
  [ "$(cat $AT/test-file)" = test ] || { echo wrong contents; cat $AT/test-file; exit 1; }
`

// TestScript: the script of figure 2 has the 13 sequences of choices of figure 3, and is the one
// that docs/user/checkers.md shows.
func TestScript(t *testing.T) {
	s, err := parseScript([]byte(figure2), "/mnt/x")
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	m := exploretest.New()
	m.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		ran = append(ran, strings.Join(c.Env, " ")+": "+c.Args[2])
		return agent.Exit{Code: 1}, nil // a failed command is not a failure
	}
	runs := 0
	for c := new(explore.Chooser); ; {
		runs++
		if err := s.Mutate(explore.NewEnv(t.Context(), m, c)); err != nil {
			t.Fatal(err)
		}
		if !c.Next() {
			break
		}
	}
	if runs != 13 {
		t.Errorf("%d sequences of choices, want 13", runs)
	}
	if want := "N=4 AT=/mnt/x: rmdir $AT/test-dir$N"; !slices.Contains(ran, want) {
		t.Errorf("%q was not run: %q", want, ran)
	}
	doc, err := os.ReadFile("../../docs/user/checkers.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), strings.TrimSpace(figure2)) {
		t.Error("docs/user/checkers.md shows another script")
	}
}

// TestScriptCheck: check gets the epoch and the expected text, and its output is the failure.
func TestScriptCheck(t *testing.T) {
	const text = `
mutate: [{crash: start, expect: one}, touch x, {crash: end, expect: two}]
check: look
`
	s, err := parseScript([]byte(text), "/mnt/x")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	exit := agent.Exit{}
	m := exploretest.New()
	m.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		env = c.Env
		return exit, nil
	}
	e := explore.NewEnv(t.Context(), m, new(explore.Chooser))
	if err := s.Mutate(e); err != nil {
		t.Fatal(err)
	}
	crash := explore.Crash{Before: "one", After: "two"}
	for epoch, want := range map[explore.Epoch]string{
		explore.Begin:     "EPOCH=begin EXPECT=one",
		explore.InBetween: "EPOCH=between EXPECT=two",
		explore.End:       "EPOCH=end EXPECT=two",
	} {
		crash.Epoch = epoch
		err := s.Check(e, crash)
		if err != nil || !strings.HasPrefix(strings.Join(env, " "), want) {
			t.Errorf("%v: %v with %q, want %q", epoch, err, env, want)
		}
	}
	exit = agent.Exit{Code: 1, Stdout: []byte("file gone\n/mnt/x/f is not there\n")}
	found, ok := s.Check(e, crash).(*explore.Failure) //nolint:errorlint // not wrapped
	if !ok || found.Kind != "file gone" || found.Text != "/mnt/x/f is not there" {
		t.Errorf("found %v", found)
	}
}

// TestInvalidScripts: the error of an invalid script names the cause and the line.
func TestInvalidScripts(t *testing.T) {
	for text, want := range map[string]string{
		"check: x":    "mutate and check",
		"mutate: [a]": "mutate and check",
		"mutate: [{run: a, crash: now}]\ncheck: x":           "line 1: one of",
		"mutate: [{n: 3}]\ncheck: x":                         "line 1: one of",
		"mutate:\n- crash: later\ncheck: x":                  "line 2: crash must be",
		"mutate:\n- a\n- chose: [[b]]\ncheck: x":             "line 3: there is no",
		"mutate: [a]\nchek: x":                               "chek",
		"mutate:\n- choose: [[{run: a, must: 7}]]\ncheck: x": "",
	} {
		if _, err := parseScript([]byte(text), "/"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// TestScriptFindsABug: a script finds a planted bug, and reports nothing without it.
func TestScriptFindsABug(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	text := "mutate: [make, force, {crash: now}]\ncheck: there || { echo gone; exit 1; }"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for bug, want := range map[string]int{"": 0, "sync does nothing": 1} {
		cfg, ctx := config(t, "sync", bug, fakePromises, 1)
		c, err := New(file, cfg.Stack.Top.(*fake), fakePromises, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Stack.Checker = c
		system := cfg.System.(*exploretest.System)
		system.Programs["sh"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
			ops := map[string]agent.Op{"make": agent.Mkdir(fakeAt+"/d", 0o755), "force": agent.Sync()}
			op, is := ops[c.Args[2]]
			if !is {
				op = agent.Readdir(fakeAt + "/d")
			}
			r := system.Perform(s, op)
			return agent.Exit{Code: int(r.Errno), Stdout: []byte("gone")}, nil
		}
		got, err := explore.Run(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Errors) != want || want > 0 && got.Errors[0].Kind != "gone" {
			t.Errorf("%q: %+v", bug, got.Errors)
		}
	}
}

// TestScriptSignatureAndCapture checks that a script's signature identifies its states, and capture
// makes the output of a command the expectation.
func TestScriptSignatureAndCapture(t *testing.T) {
	s, err := parseScript([]byte(`
mutate:
- {crash: now, capture: cat $AT/f}
signature: ls $AT
check: "[ \"$(cat $AT/f)\" = \"$EXPECT\" ]"
`), "/mnt/x")
	if err != nil {
		t.Fatal(err)
	}
	m := exploretest.New()
	m.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		out := map[string]string{"cat $AT/f": "content\n", "ls $AT": "f\n"}[c.Args[2]]
		return agent.Exit{Stdout: []byte(out)}, nil
	}
	e := explore.NewEnv(t.Context(), m, new(explore.Chooser))
	if sig, err := s.Signature(e); err != nil || string(sig) != "f\n" {
		t.Errorf("the signature is %q, %v", sig, err)
	}
	if got, err := s.expectation(e, s.text.Mutate[0]); err != nil || got != expectedText("content") {
		t.Errorf("the expectation is %q, %v", got, err)
	}
	failed := action{Crash: "now", Capture: "head -c 8M $AT | uniq"} // the status is that of uniq
	m.Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		return agent.Exit{Stderr: []byte("head: invalid number '8M'\n")}, nil
	}
	if _, err := s.expectation(e, failed); err == nil || !strings.Contains(err.Error(), "'8M'") {
		t.Errorf("a capture that prints an error alone gives %v", err)
	}
	if _, err := parseScript([]byte("mutate: [{run: a, capture: b}]\ncheck: c"), "/"); err == nil {
		t.Error("capture without a crash is accepted")
	}
}

// TestScriptFails: disks fail during some actions, also if one of them fails, and work again
// afterwards.
func TestScriptFails(t *testing.T) {
	s, err := parseScript([]byte(`
mutate:
- {fail: 0 $SECOND, during: [{run: read, must: true}]}
check: "true"
`), "/mnt/x")
	if err != nil {
		t.Fatal(err)
	}
	s.Env = []string{"FIRST=9", "SECOND=2"}
	m := exploretest.New()
	var did []string
	m.Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
		did = append(did, op.String())
		return agent.Result{}
	}
	m.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		did = append(did, c.Args[2])
		return agent.Exit{Code: 1}, nil
	}
	var failed *explore.Failure
	e := explore.NewEnv(t.Context(), m, new(explore.Chooser))
	if err := s.Mutate(e); !errors.As(err, &failed) {
		t.Errorf("the failed command is %v", err)
	}
	want := "drop caches, inject disk 0: fail bio 1 and all after it with EIO, " +
		"inject disk 2: fail bio 1 and all after it with EIO, read, " +
		"clear rules of disk 0, clear rules of disk 2"
	if got := strings.Join(did, ", "); got != want {
		t.Errorf("the machine did %q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"mutate: [{fail: 0}]\ncheck: x":                "fail needs disks",
		"mutate: [{run: a, during: [b]}]\ncheck: x":    "fail needs disks",
		"mutate: [{fail: x, during: [b]}]\ncheck: x":   "not the number of a disk",
		"mutate: [{fail: 256, during: [b]}]\ncheck: x": "not the number of a disk",
	} {
		s, err := parseScript([]byte(text), "/")
		if err == nil {
			err = s.Mutate(explore.NewEnv(t.Context(), m, new(explore.Chooser)))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// TestScriptSteps: no step follows the last one, and all states after it are one.
func TestScriptSteps(t *testing.T) {
	s, err := parseScript([]byte("steps: 1\nmutate: [touch x]\ncheck: look\n"), "/mnt/x")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	m := exploretest.New()
	m.Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		ran++
		return agent.Exit{}, nil
	}
	e := explore.NewEnv(t.Context(), m, new(explore.Chooser))
	for execution := range 2 {
		if err := s.Init(e); err != nil {
			t.Fatal(err)
		}
		before, err := s.Signature(e)
		if err := errors.Join(err, s.Mutate(e), s.Mutate(e)); err != nil {
			t.Fatal(err)
		}
		after, err := s.Signature(e)
		if err != nil || before != nil || after == nil || ran != execution+1 {
			t.Errorf("%d commands, signatures %q and %q, %v", ran, before, after, err)
		}
	}
}
