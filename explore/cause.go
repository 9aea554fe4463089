package explore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bounds of the errors of one kind and one property. Each error is minimized, which takes time.
const (
	maxCauses   = 6  // errors
	maxAttempts = 12 // failures that are minimized, because they may have another cause
)

// varying matches the parts of a line that differ from failure to failure: numbers and addresses.
var varying = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+`)

// complaining matches lines of the kernel's log that are about something wrong.
var complaining = regexp.MustCompile(`(?i)error|warning|corrupt|fail|invalid|bad |bug`)

// operations returns the names of the operations of steps, each once, in order of bytes. It leaves
// out those that open and close, marks, and turns of threads.
func operations(steps ...[]string) string {
	var names []string
	for _, line := range slices.Concat(steps...) {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case slices.Contains([]string{"open", "close", "now", "start", "end", "user"}, word):
		case rest == "runs", slices.Contains(names, word):
		default:
			names = append(names, word)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// symptoms describes what a failure showed beside its kind: the last step's operations, what the
// recovery complained about, and what the kernel logged about it, without numbers. Surprises, and
// calls that returned too early, have one cause for each kind and property.
func (f *failureContext) symptoms() string {
	out := []string{f.Kind, f.Property}
	switch first, _, _ := strings.Cut(f.Text, "\n"); {
	case f.Kind == Repaired: // by what was repaired, whatever was done before
		return strings.Join(append(out, varying.ReplaceAllString(first, "N")), "\n")
	case f.Surprise, strings.HasPrefix(f.Kind, earlyCall):
		return strings.Join(out, "\n")
	}
	if n := len(f.did); n > 0 {
		out = append(out, operations(f.did[n-1]))
	}
	kernel := f.kernel
	if f.disk != nil {
		out = append(out, varying.ReplaceAllString(f.disk.Complaint, "N"))
		kernel = f.disk.kernel
	}
	var lines []string
	for line := range strings.Lines(strings.Join(kernel, "")) {
		line = varying.ReplaceAllString(strings.TrimSpace(line), "N")
		if complaining.MatchString(line) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return strings.Join(append(out, lines...), "\n")
}

// cause describes what distinguishes a minimized failure from others of its kind: its symptoms, the
// operations of all its steps, and how many writes are missing on the disk.
func (f *failureContext) cause() string {
	if f.Surprise || f.disk == nil && strings.HasPrefix(f.Kind, earlyCall) {
		return f.symptoms()
	}
	text := f.symptoms() + "\nall steps: " + operations(f.did...)
	if f.disk != nil {
		text += fmt.Sprintf("\nmissing: %s, torn: %s, early: %s", several(len(f.disk.Missing)),
			several(len(f.disk.Torn)), several(len(f.disk.Early)))
	}
	return text
}

// several returns "no", "one" or "several".
func several(n int) string { return [...]string{"no", "one", "several"}[min(n, 2)] }

// A causeTable knows which failures have the cause of an error.
type causeTable struct {
	by       map[string]int // from symptoms to the index of an error
	attempts map[string]int // by kind and property
}

// known returns the index of the error with the cause of a failure; -1: it may have another cause.
func (t *causeTable) known(f *failureContext, list []Error) int {
	first, n := -1, 0
	for i := range list {
		if !f.matches(list[i].Kind, list[i].Property) {
			continue
		}
		if n++; first < 0 {
			first = i
		}
	}
	switch i, known := t.by[f.symptoms()]; {
	case n == 0:
		return -1
	case known:
		return i
	case n >= maxCauses || t.attempts[f.Kind+f.Property] >= maxAttempts:
		return first
	}
	return -1
}

// add records that failures with the symptoms of a failure have the cause of list[i].
func (t *causeTable) add(f *failureContext, list []Error, i int) {
	list[i].Symptoms = append(list[i].Symptoms, f.symptoms())
	t.load(list[i:i+1], i)
}

// load adds the symptoms of errors, the first of which has the index from.
func (t *causeTable) load(list []Error, from int) {
	if t.by == nil {
		t.by, t.attempts = make(map[string]int), make(map[string]int)
	}
	for i, e := range list {
		for _, symptoms := range e.Symptoms {
			if _, known := t.by[symptoms]; !known {
				t.by[symptoms] = from + i
				t.attempts[e.Kind+e.Property]++
			}
		}
	}
}
