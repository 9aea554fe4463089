package guard

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"fsward/change"
	"fsward/hostd/output"
)

// A JSONReport writes one JSON object a line.
type JSONReport struct{ lines *output.Lines }

// NewJSONReport returns a report that writes to w, each line with one call. guest is the name of
// the guest; "" if it has none.
func NewJSONReport(w io.Writer, guest string) *JSONReport {
	return &JSONReport{output.NewLines(w, guest)}
}

// Event writes an event as a line.
func (r *JSONReport) Event(ev *Event) {
	_ = r.lines.Print(ev) // a closed stdout must not stop a guest's writes
}

// Dropped returns the line of an event that says how many reports were dropped.
func (r *JSONReport) Dropped(reports uint64) []byte {
	line, err := r.lines.Line(droppedEvent(reports))
	if err != nil { // an event is an object
		return nil
	}
	return line
}

// droppedEvent returns the event that stands where reports were dropped.
func droppedEvent(reports uint64) *Event {
	return &Event{Kind: KindDropped, Dropped: reports,
		Note: fmt.Sprintf("%d reports were dropped here: the reader did not take them", reports)}
}

// A TextReport writes for people: a row for each commit and a block for each violation. It writes
// an event with one call.
type TextReport struct {
	mu     sync.Mutex
	w      io.Writer
	headed bool
	rules  string // the hash of the rules that judged last
}

// NewTextReport returns a report that writes to w.
func NewTextReport(w io.Writer) *TextReport { return &TextReport{w: w} }

const rowFormat = "%-8s %-8s %-6s %10s %9s %10s  %s\n"

// Event writes an event.
func (r *TextReport) Event(ev *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	name := volumeName(ev.Disk, ev.Volume)
	switch {
	case ev.Kind == KindImage && ev.FS == "":
		fmt.Fprintf(&b, "%-8s %s\n", orDash(name), ev.State)
	case ev.remark():
		fmt.Fprintf(&b, "%-8s %s\n", orDash(name), ev.Note)
	default:
		if !r.headed {
			fmt.Fprintf(&b, rowFormat, "TIME", "DISK", "FS", "COMMIT", "RECORDS", "CHECKED", "VERDICT")
			r.headed = true
		}
		fmt.Fprintf(&b, rowFormat, time.Now().Format("15:04:05"), orDash(name), orDash(ev.FS),
			CommitText(ev), recordsText(ev), DurationText(ev.CheckNS), VerdictText(ev))
		WriteFindings(&b, ev)
		if ev.RulesHash != "" && r.rules != ev.RulesHash {
			if r.rules != "" {
				fmt.Fprintf(&b, "%-8s the rules have changed: %s\n", orDash(name), ev.RulesHash)
			}
			r.rules = ev.RulesHash
		}
	}
	_, _ = r.w.Write(b.Bytes()) // a closed stdout must not stop a guest's writes
}

// remark reports whether an event has only a note to show to people, and no verdict.
func (ev *Event) remark() bool {
	switch ev.Kind {
	case KindAttach, KindProgress, KindWaiting, KindRecording, KindAudit, KindDropped:
		return true
	}
	return ev.Kind == KindNote && ev.Action != Failed
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// WriteFindings writes a block for each violation and for each undecided rule of an event.
func WriteFindings(w io.Writer, ev *Event) {
	for _, v := range ev.Violations {
		fmt.Fprintf(w, "\n  %-12s %s\n", v.Rule, v.Doc)
		if v.Severity != "" {
			writePair(w, "severity", v.Severity)
		}
		writePair(w, "exempt", v.Exempt)
		writePair(w, "object", objectText(v))
		if v.HasAddr {
			writePair(w, "device", addressText(v))
		}
		writePair(w, "found", v.Detail)
		writePair(w, "rule", v.Source)
		for i, rec := range v.Witness {
			writePair(w, [...]string{"records", ""}[min(i, 1)], rec)
		}
		WriteReasons(w, v.Why)
	}
	for _, u := range ev.Undecided {
		fmt.Fprintf(w, "\n  undecided    %s\n", u)
	}
	for _, t := range ev.RuleTimes {
		fmt.Fprintf(w, "  %-12s %10.3f ms\n", t.Rule, float64(t.NS)/1e6)
	}
	if len(ev.Violations)+len(ev.Undecided) > 0 {
		fmt.Fprintln(w)
	}
}

// WriteReasons writes why the goals of a rule were true, indented beneath its violation.
func WriteReasons(w io.Writer, reasons []change.Reason) {
	for i, r := range reasons {
		writePair(w, [...]string{"because", ""}[min(i, 1)], fmt.Sprintf("%-7s %s", r.Kind, r.Goal))
		if r.Because != "" {
			fmt.Fprintf(w, "%23s the search ends at %s\n", "", r.Because)
		}
	}
}

func writePair(w io.Writer, name, value string) {
	if value != "" {
		fmt.Fprintf(w, "    %-10s %s\n", name, value)
	}
}

func addressText(v change.Violation) string {
	if v.Disk != "" {
		return fmt.Sprintf("address %d of %s", v.Addr, v.Disk)
	}
	return fmt.Sprintf("address %d", v.Addr)
}

func objectText(v change.Violation) string {
	switch {
	case v.ID == "":
		return ""
	case strings.HasPrefix(v.ID, "k("):
		return "tree " + v.Tree + ", " + v.ID
	default:
		return v.Tree + " " + v.ID
	}
}

// CommitText returns the entry of an event in the column COMMIT.
func CommitText(ev *Event) string {
	switch ev.Kind {
	case KindCommit, KindImage:
		return fmt.Sprint(ev.Generation)
	case KindLogCommit:
		return fmt.Sprintf("%d log", ev.Generation)
	case KindBaseline:
		return "baseline"
	case KindCall:
		return "call"
	case KindCrashState:
		return "crash"
	default:
		return "write"
	}
}

func recordsText(ev *Event) string {
	if ev.Kind == KindWrite || ev.Kind == KindCall || ev.Kind == KindCrashState {
		return "-"
	}
	return fmt.Sprint(ev.Records)
}

// DurationText returns nanoseconds as milliseconds.
func DurationText(ns int64) string {
	return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
}

// VerdictText returns the entry of an event in the column VERDICT.
func VerdictText(ev *Event) string {
	s := ev.Outcome.String()
	if ev.Outcome != change.Holds && ev.Action != "" {
		s += ", " + ev.Action
	}
	if names := namesWhere(ev, (*change.Violation).Acts); names != "" {
		s += fmt.Sprintf(" (%s)", names)
	}
	if names := namesWhere(ev, isLogged); names != "" {
		s += "; only logged: " + names
	}
	if names := namesWhere(ev, isExempt); names != "" {
		s += "; exempt: " + names
	}
	if ev.Err != "" {
		s += ", the disk failed: " + ev.Err
	}
	if ev.Note != "" {
		s += "; " + ev.Note
	}
	return s
}

// isLogged and isExempt report why a violation does not act.
func isLogged(v *change.Violation) bool { return !v.Acts() && v.Exempt == "" }
func isExempt(v *change.Violation) bool { return v.Exempt != "" }

// namesWhere lists the rules of those violations of an event for which match returns true.
func namesWhere(ev *Event, match func(*change.Violation) bool) string {
	var of []change.Violation
	for i := range ev.Violations {
		if match(&ev.Violations[i]) {
			of = append(of, ev.Violations[i])
		}
	}
	return strings.Join(RuleNames(of), ", ")
}

// RuleNames lists the violated rules in order, each once.
func RuleNames(vs []change.Violation) []string {
	var names []string
	seen := make(map[string]bool)
	for _, v := range vs {
		if !seen[v.Rule] {
			seen[v.Rule] = true
			names = append(names, v.Rule)
		}
	}
	return names
}
