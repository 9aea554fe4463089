package checkers

import (
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// stepLog is the log of a step with two marks.
var stepLog = []explore.Tick{
	{What: "write", Record: 1, Disk: 1, Sector: 8, Sectors: 2},
	{What: "user old", Mark: "old", Record: 2},
	{What: "write", Record: 3, Disk: 1, Sector: 16, Sectors: 8},
	{What: "flush", Record: 4, Disk: 1},
	{What: "write", Record: 5, Disk: 1, Sector: 24, Sectors: 8},
	{What: "user new", Mark: "new", Record: 6},
	{What: "flush", Record: 7, Disk: 1},
}

// TestScriptCrashesInTheLog: a script requests crashes after writes, flushes and its marks, and the
// expectation of each is that of the last mark before it.
func TestScriptCrashesInTheLog(t *testing.T) {
	for crashes, want := range map[string]string{
		"[{after: write}]":                                   "1: 3:1 5:1",
		"[{after: write, which: last}]":                      "5:1",
		"[{after: flush, which: first}]":                     "4:1",
		"[{after: flush, from: new}]":                        "7:2",
		"[{after: write, from: old, to: new}]":               "3:1 5:1",
		"[{after: new}, {after: old}]":                       "2:1 6:2",
		"[{after: write, which: first}, {after: flush}]":     "1: 4:1 7:2",
		"[{after: flush, to: old}, {after: write, to: old}]": "1:",
	} {
		s, err := parseScript([]byte("mutate: [{mark: old, capture: now}, touch x, "+
			"{mark: new, capture: now}]\ncheck: look\ncrashes: "+crashes), "/mnt/x")
		if err != nil {
			t.Fatal(err)
		}
		m, ran := exploretest.New(), 0
		m.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
			if c.Args[2] == "now" {
				ran++
			}
			return agent.Exit{Stdout: []byte{'0' + byte(ran), '\n'}}, nil
		}
		if err := s.Mutate(explore.NewEnv(t.Context(), m, new(explore.Chooser))); err != nil {
			t.Fatal(err)
		}
		got, err := s.Crashes(stepLog)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, c := range got {
			text = append(text, string('0'+byte(c.After))+":"+string(c.Expect.(expectedText)))
		}
		if strings.Join(text, " ") != want {
			t.Errorf("%s requests %q, want %q", crashes, text, want)
		}
	}
}

// TestScriptLogText: the log of a crash is one line for each tick, and its end if it is long.
func TestScriptLogText(t *testing.T) {
	want := "write 1 8 2\nmark old\nwrite 1 16 8\nflush 1"
	if got := logText(stepLog[:4]); got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	long := logText(slices.Repeat(stepLog, 4000))
	if len(long) > maxLogText || !strings.HasSuffix(long, "\nmark new\nflush 1") {
		t.Errorf("a long log has %d bytes", len(long))
	}
}

// TestInvalidScriptLogs: invalid crashes and marks are refused.
func TestInvalidScriptLogs(t *testing.T) {
	for text, want := range map[string]string{
		"mutate: [a]\ncheck: x\ncrashes: [{after: there}]":                            "not \"there\"",
		"mutate: [a]\ncheck: x\ncrashes: [{after: write, which: some}]":               "not \"some\"",
		"mutate: [{mark: m}]\ncheck: x\ncrashes: [{after: m, to: n}]":                 "must be marks",
		"mutate: [{mark: write}]\ncheck: x":                                           "not write",
		"mutate: [{crash: start}, {crash: end}]\ncheck: x\ncrashes: [{after: flush}]": "exclude",
	} {
		if _, err := parseScript([]byte(text), "/"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}
