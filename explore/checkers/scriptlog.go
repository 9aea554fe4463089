package checkers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore"
)

// A logCrash of a script requests crashes in the log of a step.
type logCrash struct {
	After string `yaml:"after"` // "write", "flush" or the text of a mark
	Which string `yaml:"which"` // of several: "each" (the default), "first" or "last"
	From  string `yaml:"from"`  // not before this mark; "": from the begin of the step
	To    string `yaml:"to"`    // not after this mark; "": up to the end of the step
}

// maxLogText bounds $LOG of the command check, in bytes. Earlier lines are left out. Linux bounds
// one variable by 128 KiB (MAX_ARG_STRLEN).
const maxLogText = 32 << 10

// checkCrashes returns an error if the crashes of a text are invalid.
func (t Text) checkCrashes() error {
	marks := make(map[string]bool)
	window := false
	eachAction(t.Mutate, func(a action) {
		window = window || a.Crash == "start"
		if a.Mark != "" {
			marks[a.Mark] = true
		}
	})
	if window && len(t.Crashes) > 0 {
		return errors.New("crashes in the log and crash: start exclude each other")
	}
	for i, c := range t.Crashes {
		switch known := marks[c.After] || c.After == "write" || c.After == "flush"; {
		case !known:
			return fmt.Errorf("crashes %d: after must be write, flush or a mark, not %q", i+1, c.After)
		case c.Which != "" && c.Which != "each" && c.Which != "first" && c.Which != "last":
			return fmt.Errorf("crashes %d: which must be each, first or last, not %q", i+1, c.Which)
		case c.From != "" && !marks[c.From], c.To != "" && !marks[c.To]:
			return fmt.Errorf("crashes %d: from and to must be marks", i+1)
		}
	}
	return nil
}

// eachAction visits all actions of a list, those of each alternative included.
func eachAction(list []action, visit func(action)) {
	for _, a := range list {
		visit(a)
		for _, way := range a.Choose {
			eachAction(way, visit)
		}
		eachAction(a.During, visit)
	}
}

// mark sets a mark. From there on, its expectation is that of crashes in the log.
func (s *Script) mark(e *explore.Env, a action) error {
	if a.Expect != "" || a.Capture != "" {
		expect, err := s.expectation(e, a)
		if err != nil {
			return err
		}
		s.expected[a.Mark] = expect
	}
	return e.Mark(a.Mark)
}

// Crashes returns the crashes that the script requests in the log of its last step.
func (s *Script) Crashes(log []explore.Tick) (out []explore.LogCrash, err error) {
	after := make([]bool, len(log)) // crashes are tried after the tick
	for _, c := range s.text.Crashes {
		for _, i := range c.ticks(log) {
			after[i] = true
		}
	}
	var expect any = expectedText("")
	for i, t := range log {
		if e, ok := s.expected[t.Mark]; ok && t.Mark != "" {
			expect = e
		}
		if after[i] {
			out = append(out, explore.LogCrash{After: t.Record, Expect: expect})
		}
	}
	return out, nil
}

// ticks returns the numbers of the ticks after which crashes are tried.
func (c logCrash) ticks(log []explore.Tick) (out []int) {
	from, to := 0, len(log)
	for i, t := range log {
		if c.From != "" && t.Mark == c.From {
			from = i
		}
		if c.To != "" && t.Mark == c.To {
			to = i + 1
		}
	}
	for i := from; i < to; i++ {
		if t := log[i]; t.Mark != "" && t.Mark == c.After || t.Mark == "" && t.What == c.After {
			out = append(out, i)
		}
	}
	switch {
	case c.Which == "first" && len(out) > 0:
		return out[:1]
	case c.Which == "last" && len(out) > 0:
		return out[len(out)-1:]
	}
	return out
}

// logText returns the log up to a crash, one tick a line, for the variable $LOG.
func logText(log []explore.Tick) string {
	var lines []string
	bytes := 0
	for _, t := range slices.Backward(log) {
		line := t.What
		switch {
		case t.Mark != "":
			line = "mark " + t.Mark
		case t.What == "write":
			line = fmt.Sprintf("write %d %d %d", t.Disk, t.Sector, t.Sectors)
		case t.What == "flush":
			line = fmt.Sprintf("flush %d", t.Disk)
		}
		if bytes += len(line) + 1; bytes > maxLogText {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}
