package syntax

import "strings"

// ruleDoc is what the comment block above a rule says.
type ruleDoc struct{ Doc, Origin, User, Severity string }

// DefaultSeverity is that of a rule whose comment block has no "Severity:".
const DefaultSeverity = "corruption"

// parseDoc reads a comment block: "Rule N. Sentence.", then "Source: …", then "For the user: …", and where
// it is not the default "Severity: …"; each may go on over several lines.
func parseDoc(block []comment) ruleDoc {
	var d ruleDoc
	at := &d.Doc
	for _, c := range block {
		text := c.text
		if s, ok := strings.CutPrefix(text, "Source:"); ok {
			at, text = &d.Origin, s
		} else if s, ok := strings.CutPrefix(text, "For the user:"); ok {
			at, text = &d.User, s
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

// firstSentence cuts a text behind its first full stop that a capital letter follows.
func firstSentence(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && isUpper(s[i+2]) {
			return s[:i+1]
		}
	}
	return s
}

// RuleDoc returns what a file says of the rule with a number, of which this is the first clause: in the block that begins
// with its number, else in the lines above the clause.
func (c ClauseText) RuleDoc(number string) ruleDoc {
	block := c.blocks[number]
	if block == nil {
		block = c.above
	}
	return parseDoc(block)
}
