package matrix

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// Sizes in the drawing, in pixels.
const (
	rowHeight   = 12
	labelWidth  = 176
	answerWidth = 5 // of one of the three answers in a cell
	cellWidth   = 3*answerWidth + 3
	blockGap    = 14
	columnGap   = 36
	columnCount = 4
)

// changesDrawn is the order of the columns.
var changesDrawn = []string{"+1", "-1", "=0", "=-1", "high bit", "+4096", "-4096", "+16384",
	"+1048576", "delete", "duplicate", "add", "swap", "swapkeys", "shrink", "grow"}

// A mark is one square of the drawing. It counts all cells of one field with one kind of change,
// over all places of the object.
type mark struct {
	cells, asked, fsward, check, linux, missed int
	example                                    *Row
}

// A line is one line of squares: those of a field, or those of the actions on the whole object.
type line struct {
	label string
	marks map[string]*mark
}

// A block is an object with its lines.
type block struct {
	object string
	lines  []*line
}

func (b *block) height() int { return (len(b.lines)+1)*rowHeight + blockGap }

// blocks groups rows into the drawing's blocks, in the order of the rows.
func blocks(rows []*Row) []*block {
	var out []*block
	for _, r := range rows {
		i := slices.IndexFunc(out, func(b *block) bool { return b.object == r.Object })
		if i < 0 {
			i = len(out)
			out = append(out, &block{object: r.Object})
		}
		b, label, change := out[i], r.Field, r.Change
		if label == "" {
			label = "(the object)"
		}
		if strings.HasPrefix(change, "^") {
			change = "high bit"
		}
		j := slices.IndexFunc(b.lines, func(l *line) bool { return l.label == label })
		if j < 0 {
			j = len(b.lines)
			b.lines = append(b.lines, &line{label, make(map[string]*mark)})
		}
		m := b.lines[j].marks[change]
		if m == nil {
			m = &mark{example: r}
			b.lines[j].marks[change] = m
		}
		m.add(r)
	}
	return out
}

func (m *mark) add(r *Row) {
	m.cells++
	if r.Fsward.Refused() {
		m.fsward++
	}
	if r.Check.Reports() {
		m.check++
	}
	if r.Linux.Verdict != "" {
		m.asked++
	}
	if r.Linux.Reports() {
		m.linux++
	}
	if r.Missed() {
		m.missed++
		m.example = r
	}
}

// Colors of the three answers, of the absence of a finding, and of a miss.
const (
	inkFsward = "#27557a"
	inkCheck  = "#b8863b"
	inkLinux  = "#5c7a5c"
	inkNone   = "#ecebe7"
	inkMissed = "#b3261e"
)

// svg draws the matrix: a line for each field of each object, and a square for each kind of change.
// Each square shows from left to right the answers of fsward, the checker and Linux.
func (f *format) svg(rows []*Row) string {
	list := blocks(rows)
	total := 0
	for _, b := range list {
		total += b.height()
	}
	width := labelWidth + len(changesDrawn)*cellWidth
	const top = 84
	var s strings.Builder
	x, y, bottom, column := 20, top, top, 0
	for _, b := range list {
		if y > top && y+b.height() > top+total/columnCount+8*rowHeight && column < columnCount-1 {
			column++
			x, y = x+width+columnGap, top
		}
		if y == top {
			drawHead(&s, x, y)
		}
		drawBlock(&s, b, x, y)
		y += b.height()
		bottom = max(bottom, y)
	}
	full := 40 + columnCount*width + (columnCount-1)*columnGap
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d"`+
		` viewBox="0 0 %d %d" font-family="DejaVu Sans, sans-serif" font-size="9">`,
		full, bottom+10, full, bottom+10)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fcfbf8"/>`, full, bottom+10)
	f.legend(&out, 20, 22)
	out.WriteString(s.String())
	out.WriteString("</svg>\n")
	return out.String()
}

func (f *format) legend(s *strings.Builder, x, y int) {
	for _, l := range []struct{ color, text string }{
		{inkFsward, "fsward refuses the commit"},
		{inkCheck, f.checker + " reports it"},
		{inkLinux, f.linux + " complains or does not mount it"},
		{inkNone, "no finding"},
	} {
		fmt.Fprintf(s, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/>`+
			`<text x="%d" y="%d" font-size="11" fill="#333">%s</text>`,
			x, y-9, l.color, x+15, y, l.text)
		x += 40 + 7*len(l.text)
	}
	fmt.Fprintf(s, `<rect x="%d" y="%d" width="10" height="10" fill="none" stroke="%s"`+
		` stroke-width="1.5"/><text x="%d" y="%d" font-size="11" fill="#333">`+
		`%s reports it and fsward lets it through</text>`,
		x, y-9, inkMissed, x+15, y, f.checker)
}

// drawHead names the columns.
func drawHead(s *strings.Builder, x, y int) {
	for i, c := range changesDrawn {
		cx := x + labelWidth + i*cellWidth + cellWidth/2 + 2
		fmt.Fprintf(s, `<text transform="translate(%d,%d) rotate(-60)" fill="#777"`+
			` font-size="8">%s</text>`, cx, y-4, html.EscapeString(c))
	}
}

func drawBlock(s *strings.Builder, b *block, x, y int) {
	fmt.Fprintf(s, `<text x="%d" y="%d" font-weight="bold" font-size="10" fill="#222">%s</text>`, x,
		y+rowHeight-3, b.object)
	for i, l := range b.lines {
		ly := y + (i+1)*rowHeight
		fmt.Fprintf(s, `<text x="%d" y="%d" fill="#444">%s</text>`, x+8, ly+9, l.label)
		for j, c := range changesDrawn {
			if m := l.marks[c]; m != nil {
				m.draw(s, x+labelWidth+j*cellWidth, ly+1)
			}
		}
	}
}

// draw draws a square. The color of an answer is deeper if a larger share of its cells has a
// finding.
func (m *mark) draw(s *strings.Builder, x, y int) {
	r := m.example
	fmt.Fprintf(s, `<g><title>%s&#10;%s&#10;fsward: %s %s&#10;%s: %s %s&#10;Linux: %s %s</title>`,
		html.EscapeString(r.ID()), html.EscapeString(r.What),
		r.Fsward.Verdict, html.EscapeString(strings.Join(r.Fsward.Rules, " ")),
		r.format.checker, r.Check.Verdict, html.EscapeString(r.Check.Message),
		orNotAsked(r.Linux.Verdict), html.EscapeString(r.Linux.Message))
	for i, v := range []struct {
		found, of int
		color     string
	}{{m.fsward, m.cells, inkFsward}, {m.check, m.cells, inkCheck}, {m.linux, m.asked, inkLinux}} {
		if v.of == 0 {
			continue
		}
		fmt.Fprintf(s, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`, x+i*answerWidth, y,
			answerWidth, rowHeight-2, inkNone)
		if v.found > 0 {
			fmt.Fprintf(s, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" fill-opacity="%.2f"/>`,
				x+i*answerWidth, y, answerWidth, rowHeight-2, v.color,
				0.35+0.65*float64(v.found)/float64(v.of))
		}
	}
	if m.missed > 0 {
		fmt.Fprintf(s, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="%s"/>`, x, y,
			3*answerWidth, rowHeight-2, inkMissed)
	}
	s.WriteString("</g>")
}

func orNotAsked(verdict string) string {
	if verdict == "" {
		return "not asked"
	}
	return verdict
}

// pageHead is the beginning of the HTML page, up to the title.
const pageHead = `<!doctype html><meta charset="utf-8"><title>fsward: corruption matrix</title>
<style>
body{font:14px/1.5 "DejaVu Sans",sans-serif;margin:24px;background:#fcfbf8;color:#222;
max-width:2100px}
table{border-collapse:collapse;margin:12px 0}
td,th{padding:2px 12px;text-align:right;border-bottom:1px solid #ddd;font-weight:normal}
td:first-child,th:first-child{text-align:left;padding-left:0}
th{color:#666}
p{max-width:60em}
</style>
`

// html returns a page with the summary and the drawing. The pointer shows the answers of a square.
func (f *format) html(rows []*Row, date string) string {
	var summary strings.Builder
	_ = f.writeSummary(&summary, rows) // a strings.Builder returns no error
	title := `Corruption matrix, ` + f.title + `, ` + html.EscapeString(date)
	return pageHead + `<h1 style="font-size:20px;font-weight:normal">` + title + `</h1>
<p>Each square is one kind of change to one field in a commit of the kernel. The commit is otherwise
sound: its checksums are right, and all copies have the change. Rest the pointer on a square for an
example.</p>
` + htmlTable(summary.String()) + f.svg(rows)
}

// htmlTable turns a Markdown table into HTML.
func htmlTable(markdown string) string {
	var b strings.Builder
	b.WriteString("<table>")
	for i, l := range strings.Split(strings.TrimSpace(markdown), "\n") {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		if i == 1 {
			continue // the rule below the head
		}
		b.WriteString("<tr>")
		for _, cell := range strings.Split(strings.Trim(l, "|"), "|") {
			fmt.Fprintf(&b, "<%s>%s</%s>", tag, html.EscapeString(strings.TrimSpace(cell)), tag)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>\n")
	return b.String()
}
