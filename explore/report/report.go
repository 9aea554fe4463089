// Package report describes the results of runs of the explorer: as a self-contained HTML page, or
// as a Markdown table.
//
// Start reading at Read and Write. The table has a row for each stack and a column for each
// property. picture draws the writes, flushes and the crash of a failure.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"fsward/explore"
	"fsward/explore/spec"
)

//go:embed report.html
var page string

var templates = template.Must(
	template.New("report").Funcs(template.FuncMap{"join": strings.Join}).Parse(page))

// A Run is a run as the report shows it.
type Run struct {
	Dir    string
	System string // the layers of the stack, with their options
	Spec   spec.Run
	explore.Summary
	Errors []Error
}

// Title returns the heading of a run: its stack and its checker.
func (r Run) Title() string { return r.System + ": " + r.checker() }

// checker returns the name of the checker, which a stack may have in itself.
func (r Run) checker() string {
	if r.Spec.Script != nil {
		return scripts
	}
	return r.Spec.Checker
}

// Anchor returns the id of a run in the page.
func (r Run) Anchor() string { return "run-" + r.Dir }

// An Error is an error of a run with its picture.
type Error struct {
	explore.Error
	Path    string // of its folder
	Picture *picture
}

// Lines returns the operations that led to the error, one a line, each with the number of its step.
func (e Error) Lines() (out []string) {
	for i, did := range e.Did {
		for _, line := range did {
			out = append(out, fmt.Sprintf("%d. %s", i+1, line))
		}
	}
	return out
}

// Read reads the run in a folder, with its errors.
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
		r.Errors = append(r.Errors, Error{e, path, pictureOf(e, ticks)})
	}
	return r, nil
}

// Write writes the HTML page of runs.
func Write(w io.Writer, runs []Run) error {
	return templates.Execute(w, struct {
		Table table
		Runs  []Run
	}{tableOf(runs), runs})
}
