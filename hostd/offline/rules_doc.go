package offline

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// WriteInvariants writes docs/user/invariants.md from the comment blocks of the built-in rules.
func WriteInvariants(w io.Writer) error {
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		return err
	}
	fmt.Fprint(w, "# The invariants\n\n<!-- Written by `fsward rules doc`; do not edit: edit the comment block above the rule. -->\n\n"+
		"What fsward holds every commit to. Each is a rule in `invariants/`; how a rule is written is in [rules.md](rules.md), and how\n"+
		"to add one in [authoring.md](authoring.md). What is checked before the rules, and the objects that they speak of, stands behind\n"+
		"those of each file system.\n")
	for _, fs := range guard.FileSystems() {
		fmt.Fprintf(w, "\n## %s\n", fs)
		for _, r := range rules.List(fs) {
			fmt.Fprintf(w, "\n### %s\n\n%s\n\n", r.Name, r.Doc)
			fmt.Fprintf(w, "- If it does not hold: %s\n- Severity: %s\n- Comes from: %s\n- Written in: `%s`\n", r.User, r.Severity, r.Origin, r.Source)
		}
		fmt.Fprintf(w, "\n### Checks before the rules of %s\n\nOf each block and of each write, in Go: rules rely on them.\n\n| check | what it holds |\n|---|---|\n", fs)
		for _, c := range detect.Checks(fs) {
			fmt.Fprintf(w, "| `%s` | %s |\n", c.Name, c.Doc)
		}
		if fs == "btrfs" {
			writeThesis(w, rules)
		}
		fmt.Fprintf(w, "\n### Objects and fields of %s\n\nWhat its rules can speak of.\n\n| kind | what it is | fields |\n|---|---|---|\n", fs)
		writeKinds(w, detect.Schema(fs))
	}
	return nil
}

// A ThesisProperty is one of the thirty of the thesis that this comes from, under its number there, and what holds it here.
// A ThesisProperty is a property of the thesis, and the rule or check that holds it.
type ThesisProperty struct{ Number, By, Origin string }

// fromThesis is how the origin of a check names the number of a property.
var fromThesis = regexp.MustCompile(`^thesis, table (\S+) \((\d+)\)`)

// ThesisProperties are the rules of Btrfs whose origin is the thesis: they have its numbers. Five properties of its table 4.1, and
// one of table 5.2, are checks here.
func ThesisProperties(rules *guard.Rules) []ThesisProperty {
	var list []ThesisProperty
	for _, c := range detect.Checks("btrfs") {
		if m := fromThesis.FindStringSubmatch(c.Origin); m != nil {
			number := m[2]
			if m[1] == "4.1" { // which counts for itself
				number = "4.1 (" + m[2] + ")"
			}
			list = append(list, ThesisProperty{number, c.Name, c.Origin})
		}
	}
	for _, r := range rules.List("btrfs") {
		if strings.HasPrefix(r.Origin, "thesis, ") {
			list = append(list, ThesisProperty{strings.TrimPrefix(r.Name, "btrfs/"), r.Name, r.Origin})
		}
	}
	slices.SortFunc(list, func(a, b ThesisProperty) int { return guard.CompareNames(a.Number, b.Number) })
	return list
}

func writeThesis(w io.Writer, rules *guard.Rules) {
	fmt.Fprint(w, "\n### The thirty properties of the thesis\n\nThose of tables 5.1 and 5.2 under their numbers, and of table 4.1.\n\n"+
		"| property | held by | comes from |\n|---|---|---|\n")
	for _, p := range ThesisProperties(rules) {
		fmt.Fprintf(w, "| %s | `%s` | %s |\n", p.Number, p.By, p.Origin)
	}
}

func writeKinds(w io.Writer, s *change.Schema) {
	for _, k := range s.Kinds[1:] {
		fields := ""
		for i, f := range k.Fields {
			if i > 0 {
				fields += ", "
			}
			fields += "`" + s.FieldName(f) + "`"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", k.Name, k.Doc, fields)
	}
}
