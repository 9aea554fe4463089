package hostd

import (
	"fmt"
	"io"

	"fsward/change"
	"fsward/interp/detect"
)

// WriteInvariants writes docs/INVARIANTS.md from the comment blocks of the built-in rules.
func WriteInvariants(w io.Writer) error {
	rules, err := RulesConfig{}.Load()
	if err != nil {
		return err
	}
	fmt.Fprint(w, "# The invariants\n\n<!-- Written by `fsward rules doc`; do not edit: edit the comment block above the rule. -->\n\n"+
		"What fsward holds every commit to, besides the structure of the file system. Each is a rule in `invariants/`;\n"+
		"how a rule is written is in [RULES.md](RULES.md), and how to add one in [AUTHORING.md](AUTHORING.md).\n")
	for _, fs := range FileSystems() {
		fmt.Fprintf(w, "\n## %s\n", fs)
		for _, r := range rules.List(fs) {
			fmt.Fprintf(w, "\n### %s\n\n%s\n\n", r.Name, r.Doc)
			fmt.Fprintf(w, "- If it does not hold: %s\n- Severity: %s\n- Comes from: %s\n- Written in: `%s`\n", r.User, r.Severity, r.Origin, r.Source)
		}
		fmt.Fprintf(w, "\n### Objects and fields of %s\n\nWhat its rules can speak of.\n\n| kind | what it is | fields |\n|---|---|---|\n", fs)
		writeKinds(w, detect.Schema(fs))
	}
	return nil
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
