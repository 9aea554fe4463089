// Package report makes one HTML file of what runs of the explorer have found.
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

var templates = template.Must(template.New("report").Funcs(template.FuncMap{"join": strings.Join}).Parse(page))

// A Run is what is reported of one.
type Run struct {
	Dir    string
	System string // what was checked: its layers with their options
	Spec   spec.Run
	explore.Summary
	Errors []Error
}

// Title names a run.
func (r Run) Title() string { return r.System + ": " + r.Spec.Checker }

// Anchor is what links to a run lead to.
func (r Run) Anchor() string { return "run-" + r.Dir }

// An Error is one with its picture.
type Error struct {
	explore.Error
	Path    string // of its folder
	Picture *picture
}

// Lines are what was done, a line each.
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
		r.Errors = append(r.Errors, Error{e, path, pictureOf(e, ticks)})
	}
	return r, nil
}

// Write writes the page of runs.
func Write(w io.Writer, runs []Run) error {
	return templates.Execute(w, struct {
		Table table
		Runs  []Run
	}{tableOf(runs), runs})
}
