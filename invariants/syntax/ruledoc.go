package syntax

import "strings"

// ruleDoc is the content of the comment block above a rule.
type ruleDoc struct{ Doc, Origin, User, Cost, Severity string }

// DefaultSeverity is the severity of a rule whose comment block has no "Severity:".
const DefaultSeverity = "corruption"

// parseDoc parses a comment block: "Rule N. Sentence.", then "Source: …", then "For the user: …",
// then, if its cost needs a reason, "Cost: …", then, if it is not the default, "Severity: …". Each
// part may span several lines.
func parseDoc(block []comment) ruleDoc {
	var d ruleDoc
	at := &d.Doc
	for _, c := range block {
		text := c.text
		if s, ok := strings.CutPrefix(text, "Source:"); ok {
			at, text = &d.Origin, s
		} else if s, ok := strings.CutPrefix(text, "For the user:"); ok {
			at, text = &d.User, s
		} else if s, ok := strings.CutPrefix(text, "Cost:"); ok {
			at, text = &d.Cost, s
		} else if s, ok := strings.CutPrefix(text, "Severity:"); ok {
			at, text = &d.Severity, s
		} else if strings.HasPrefix(text, "Rule ") {
			if _, s, ok := strings.Cut(text, "."); ok {
				at, text = &d.Doc, s
			}
		}
		*at = strings.TrimSpace(*at + " " + strings.TrimSpace(text))
	}
	d.Doc = firstSentence(d.Doc)
	if d.Severity == "" {
		d.Severity = DefaultSeverity
	}
	return d
}

// firstSentence cuts a text after its first full stop that is followed by a capital letter.
func firstSentence(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && isUpper(s[i+2]) {
			return s[:i+1]
		}
	}
	return s
}

// RuleDoc returns the documentation of the rule with a number, of which this is the first clause:
// the block that begins with its number, else the comment lines above the clause.
func (c ClauseText) RuleDoc(number string) ruleDoc {
	block := c.blocks[number]
	if block == nil {
		block = c.above
	}
	return parseDoc(block)
}
