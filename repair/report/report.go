// Package report writes what campaigns found as one page of HTML, which needs no other file.
package report

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"fsward/repair/campaign"
)

//go:embed page.html
var page string

// A Campaign is one campaign of a page.
type Campaign struct {
	*campaign.Results
	Kinds  []string // of failures, in the order of the table's columns
	Groups []Group  // rows of the table
}

// A Group is a row of the table: the failures of the fields of one group, by kind.
type Group struct {
	Name   string
	Counts []uint64
}

// maxShown bounds the bytes of each output on the page.
const maxShown = 8 << 10

// Write writes the page of campaigns.
func Write(w io.Writer, results []*campaign.Results) error {
	t, err := template.New("page").Funcs(template.FuncMap{"output": output, "kind": campaign.Sentence,
		"left":  func(p campaign.Progress) uint64 { return p.Count - min(p.Next, p.Count) },
		"join":  func(argv []string) string { return strings.Join(argv, " ") },
		"lines": func(list []string) string { return strings.Join(list, "\n") },
	}).Parse(page)
	if err != nil {
		return err
	}
	var list []Campaign
	for _, r := range results {
		list = append(list, table(r))
	}
	return t.Execute(w, list)
}

// output returns the begin of an output as text.
func output(b []byte) string {
	text := strings.ToValidUTF8(string(b[:min(len(b), maxShown)]), "?")
	if len(b) > maxShown {
		text += "\n…"
	}
	return text
}

// table counts the failures of a campaign by group of fields and kind.
func table(r *campaign.Results) Campaign {
	c := Campaign{Results: r}
	counts := map[string]map[string]uint64{}
	for _, f := range r.Findings {
		if !slices.Contains(c.Kinds, f.Kind) {
			c.Kinds = append(c.Kinds, f.Kind)
		}
		if counts[f.Group] == nil {
			counts[f.Group] = map[string]uint64{}
			c.Groups = append(c.Groups, Group{Name: f.Group})
		}
		counts[f.Group][f.Kind] += f.Count
	}
	slices.Sort(c.Kinds)
	slices.SortFunc(c.Groups, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	for i := range c.Groups {
		for _, k := range c.Kinds {
			c.Groups[i].Counts = append(c.Groups[i].Counts, counts[c.Groups[i].Name][k])
		}
	}
	return c
}
