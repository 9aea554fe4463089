// Package report makes one HTML file of what runs of the explorer have found.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"fsward/explore"
	"fsward/explore/spec"
)

//go:embed report.html
var page string

var templates = template.Must(template.New("report").Parse(page))

// A Run is what is reported of one.
type Run struct {
	Dir    string
	System string // what was checked: its layers with their options
	Spec   spec.Run
	explore.Summary
	Errors []Error
}

// An Error is one with its picture.
type Error struct {
	explore.Error
	Path     string // of its folder
	Timeline template.HTML
}

// Steps are what was done, a line each.
func (e Error) Lines() (out []string) {
	for i, did := range e.Did {
		for _, line := range did {
			out = append(out, fmt.Sprintf("%d. %s", i+1, line))
		}
	}
	return out
}

// Read reads the run in a folder.
func Read(dir string) (r Run, err error) {
	origin, err := explore.Origin(dir)
	if err != nil {
		return r, err
	}
	if r.Spec, err = spec.Saved(origin); err != nil {
		return r, err
	}
	r.Dir = dir
	if r.Summary, err = explore.Read(dir); err != nil {
		return r, err
	}
	r.System = r.Spec.String()
	for _, e := range r.Summary.Errors {
		path := filepath.Join(dir, e.Dir)
		ticks, err := explore.ReadTimeline(path)
		if err != nil {
			return r, err
		}
		r.Errors = append(r.Errors, Error{e, path, timeline(e, ticks)})
	}
	return r, nil
}

// table is one of systems by checkers, as table 2 of EXPLODE.
type table struct {
	Checkers []string
	Rows     []row
}

type row struct {
	System string
	Cells  []cell
}

// cell is what a checker found of a system.
type cell struct {
	Tried, Complete bool
	Errors          int
	States, Crashes uint64
}

func tableOf(runs []Run) (t table) {
	for _, r := range runs {
		if !slices.Contains(t.Checkers, r.Spec.Checker) {
			t.Checkers = append(t.Checkers, r.Spec.Checker)
		}
	}
	slices.Sort(t.Checkers)
	for _, r := range runs {
		i := slices.IndexFunc(t.Rows, func(w row) bool { return w.System == r.System })
		if i < 0 {
			i = len(t.Rows)
			t.Rows = append(t.Rows, row{r.System, make([]cell, len(t.Checkers))})
		}
		c := &t.Rows[i].Cells[slices.Index(t.Checkers, r.Spec.Checker)]
		c.Tried, c.Complete = true, r.Complete
		c.Errors, c.States, c.Crashes = c.Errors+len(r.Errors), c.States+r.States, c.Crashes+r.CrashStates
	}
	return t
}

// Write writes the page of runs.
func Write(w io.Writer, runs []Run) error {
	return templates.Execute(w, struct {
		Table table
		Runs  []Run
	}{tableOf(runs), runs})
}

// Bounds of the picture, in its own units.
const (
	width, lane = 960, 70
	margin      = 8
	maxTicks    = 400 // that are drawn: the last ones
)

// timeline draws the writes and flushes of the last step, and the crash.
func timeline(e explore.Error, ticks []explore.Tick) template.HTML {
	if e.Crash == nil || len(ticks) == 0 {
		return ""
	}
	ticks = ticks[max(0, len(ticks)-maxTicks):]
	var end uint64
	for _, t := range ticks {
		end = max(end, t.Sector+t.Sectors)
	}
	step := float64(width-2*margin) / float64(len(ticks)+1)
	x := func(i int) float64 { return margin + step*float64(i) }
	y := func(sector uint64) float64 {
		return margin + float64(lane-2*margin)*float64(sector)/float64(max(end, 1))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="writes, flushes and the crash">`, width, lane+18)
	crash := x(len(ticks))
	for i, t := range ticks {
		if t.Record > e.Crash.After {
			crash = x(i)
			break
		}
	}
	for i, t := range ticks {
		switch t.What {
		case "write":
			class := "write"
			if slices.Contains(e.Crash.Missing, t.Bio) {
				class = "missing"
			}
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %d sectors at %d</title></rect>`, class, x(i), y(t.Sector),
				max(step*0.8, 1), max(y(t.Sector+t.Sectors)-y(t.Sector), 3), class, t.Sectors, t.Sector)
		case "flush":
			fmt.Fprintf(&b, `<line class="flush" x1="%.1f" x2="%.1[1]f" y1="%d" y2="%d"><title>flush</title></line>`, x(i), margin, lane-margin)
		default:
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`, x(i), lane+8, template.HTMLEscapeString(t.What))
		}
	}
	fmt.Fprintf(&b, `<line class="crash" x1="%.1f" x2="%.1[1]f" y1="0" y2="%d"/><text class="crash" x="%.1[1]f" y="%d">crash</text></svg>`, crash, lane, lane+16)
	return template.HTML(b.String()) //nolint:gosec // made here, its one text escaped
}
