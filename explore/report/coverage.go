package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"fsward/explore"
)

// Dimensions of the curve of edges, in units of its view box.
const (
	curveWidth  = 960
	curveHeight = 160
)

// Covered returns the part of the points of all files that the run reached, as a text.
func (r Run) Covered() string {
	var reached, points uint64
	for _, f := range r.Coverage.Files {
		reached, points = reached+f.Reached, points+f.Points
	}
	return share(reached, points)
}

// Share returns the part of a file's points that was reached, as a text.
func (Run) Share(f explore.FileCover) string { return share(f.Reached, f.Points) }

func share(reached, points uint64) string {
	if points == 0 {
		return fmt.Sprintf("%d points", reached)
	}
	return fmt.Sprintf("%d of %d points, %.0f %%", reached, points,
		100*float64(reached)/float64(points))
}

// Curve draws the number of edges over time.
func (r Run) Curve() template.HTML {
	end := max(r.Seconds, 1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="edges over time">`+
		`<polyline class="curve" points="`, curveWidth, curveHeight+20)
	y := func(edges uint64) float64 {
		return curveHeight * (1 - float64(edges)/float64(max(r.Edges, 1)))
	}
	fmt.Fprintf(&b, "0,%d", curveHeight)
	last := uint64(0)
	for _, g := range r.Coverage.Growth {
		x := curveWidth * g.Seconds / end
		fmt.Fprintf(&b, " %.1f,%.1f %.1f,%.1f", x, y(last), x, y(g.Edges))
		last = g.Edges
	}
	fmt.Fprintf(&b, ` %d,%.1f"/><text x="4" y="12">%d edges</text>`+
		`<text x="%d" y="%d" text-anchor="end">%.0f s</text></svg>`,
		curveWidth, y(last), r.Edges, curveWidth, curveHeight+14, r.Seconds)
	return template.HTML(b.String()) //nolint:gosec // consists of numbers
}

// writeCoverage writes a list of the source files of runs with coverage.
func writeCoverage(w io.Writer, runs []Run) {
	for _, r := range runs {
		if r.Coverage == nil {
			continue
		}
		fmt.Fprintf(w, "\nKernel code that %s, %s, ran: %d edges", escape(r.System),
			escape(r.checker()), r.Edges)
		if len(r.Coverage.Files) == 0 {
			fmt.Fprintln(w)
			continue
		}
		fmt.Fprintf(w, ", %s\n\n| file | points | of |\n|---|---|---|\n", r.Covered())
		for _, f := range r.Coverage.Files {
			fmt.Fprintf(w, "| %s | %d | %d |\n", escape(f.Path), f.Reached, f.Points)
		}
	}
}
