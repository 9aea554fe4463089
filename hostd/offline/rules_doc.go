package offline

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

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
	fmt.Fprint(w, "# The invariants\n\n"+
		"<!-- Written by `fsward rules doc`; do not edit: edit the comment block above the rule. -->\n\n")
	writeWrapped(w, "Every commit must satisfy these invariants. Each is a rule in `invariants/`. "+
		"[rules.md](rules.md) explains how a rule is written, and [authoring.md](authoring.md) how "+
		"to add one. The rules of each file system are followed by the checks that run before them, "+
		"and by the objects that they can use, with the units and the words of their values.", "")
	for _, fs := range guard.FileSystems() {
		fmt.Fprintf(w, "\n## %s\n", fs)
		for _, r := range rules.List(fs) {
			fmt.Fprintf(w, "\n### %s\n\n", r.Name)
			writeWrapped(w, r.Doc, "")
			fmt.Fprintln(w)
			writeWrapped(w, "- If violated: "+r.User, "  ")
			writeWrapped(w, "- Severity: "+r.Severity, "  ")
			writeWrapped(w, "- Source: "+r.Origin, "  ")
			if r.Cost != "" {
				writeWrapped(w, "- Cost: "+r.Cost, "  ")
			}
			writeWrapped(w, "- Defined in: `"+r.Source+"`", "  ")
		}
		fmt.Fprintf(w, "\n### Checks before the rules of %s\n\n"+
			"Go checks each block and each write before any rule runs; rules rely on these checks.\n\n"+
			"| check | what must be true |\n|---|---|\n", fs)
		for _, c := range detect.Checks(fs) {
			fmt.Fprintf(w, "| `%s` | %s |\n", c.Name, c.Doc)
		}
		if fs == "btrfs" {
			writeThesis(w, rules)
		}
		writeKinds(w, detect.Schema(fs))
	}
	return nil
}

// A ThesisProperty is a property of the thesis, and the rule or check that enforces it.
type ThesisProperty struct{ Number, By, Origin string }

// fromThesis matches the number of a property in the origin of a check.
var fromThesis = regexp.MustCompile(`^thesis, table (\S+) \((\d+)\)`)

// ThesisProperties returns the properties of the thesis. The rules of Btrfs whose origin is the
// thesis have its numbers. Five properties of its table 4.1, and one of table 5.2, are checks here.
func ThesisProperties(rules *guard.Rules) []ThesisProperty {
	var list []ThesisProperty
	for _, c := range detect.Checks("btrfs") {
		if m := fromThesis.FindStringSubmatch(c.Origin); m != nil {
			number := m[2]
			if m[1] == "4.1" { // this table has numbers of its own
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
	slices.SortFunc(list, func(a, b ThesisProperty) int {
		return guard.CompareNames(a.Number,
			b.Number)
	})
	return list
}

func writeThesis(w io.Writer, rules *guard.Rules) {
	fmt.Fprint(w, "\n### The thirty properties of the thesis\n\n"+
		"The properties of tables 5.1 and 5.2 under their numbers, and those of table 4.1.\n\n"+
		"| property | rule or check | source |\n|---|---|---|\n")
	for _, p := range ThesisProperties(rules) {
		fmt.Fprintf(w, "| %s | `%s` | %s |\n", p.Number, p.By, p.Origin)
	}
}

// writeKinds writes the kinds of objects, and describes the values of their fields.
func writeKinds(w io.Writer, s *change.Schema) {
	fmt.Fprintf(w, "\n### Objects of %s\n\n", s.FS)
	writeWrapped(w, "The kinds of objects that its rules can use, with the names of their fields.", "")
	fmt.Fprint(w, "\n| kind | what it is | fields |\n|---|---|---|\n")
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
	fmt.Fprintf(w, "\n### Values of %s\n\n", s.FS)
	writeWrapped(w, "What the fields hold. A number without a unit stands for itself. A field that "+
		"can only be queried has no change records: a rule about it starts with another change.", "")
	fmt.Fprint(w, "\n| kind | field | values | |\n|---|---|---|---|\n")
	for i, k := range s.Kinds {
		for _, f := range k.Fields {
			info := s.Info(change.Kind(i), f)
			only := ""
			if info.QueryOnly {
				only = "only queried"
			}
			fmt.Fprintf(w, "| `%s` | `%s` | %s | %s |\n", k.Name, s.FieldName(f), valuesText(info), only)
		}
	}
}

// valuesText describes the values of a field.
func valuesText(info change.FieldInfo) string {
	switch {
	case len(info.Words) > 0:
		return "`" + strings.Join(info.Words, "`, `") + "`"
	case info.Type == change.TypeKey:
		return "key `k(OID, KIND, OFFSET)`"
	case info.Unit != "":
		return info.Type.String() + ": " + info.Unit
	}
	return info.Type.String()
}

// maxColumns is where the lines of the document wrap. A table's do not.
const maxColumns = 100

// startsItem matches a word that Markdown would take for the beginning of a list item, a heading or
// a quotation at the beginning of a line.
var startsItem = regexp.MustCompile(`^([-+*>]|#+|\d+[.)])$`)

// writeWrapped writes text as one paragraph of lines of at most maxColumns. indent begins each line
// but the first.
func writeWrapped(w io.Writer, text, indent string) {
	var line strings.Builder
	columns := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case columns == 0:
		case columns+1+n <= maxColumns || startsItem.MatchString(word):
			line.WriteByte(' ')
			columns++
		default:
			line.WriteString("\n" + indent)
			columns = len(indent)
		}
		line.WriteString(word)
		columns += n
	}
	fmt.Fprintln(w, line.String())
}
