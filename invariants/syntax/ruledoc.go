package syntax

import (
	"slices"
	"strings"
)

// ruleDoc is the content of the comment block above a rule.
type ruleDoc struct{ Doc, Origin, User, Cost, Severity string }

// Severities: what a guard does with a commit that violates a rule.
const (
	SeverityRefuse = "refuse" // completes it with an error
	SeverityPause  = "pause"  // holds it until a person decides
	SeverityLog    = "log"    // lets it through and reports it
)

// DefaultSeverity is the severity of a rule whose comment block has no "Severity:".
const DefaultSeverity = SeverityRefuse

// Severity returns the severity that a word means. "corruption", which older rules have, means
// SeverityRefuse. ok is false for any other word.
func Severity(word string) (severity string, ok bool) {
	switch word {
	case SeverityRefuse, SeverityPause, SeverityLog:
		return word, true
	case "corruption":
		return SeverityRefuse, true
	}
	return word, false
}

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

// Describes reports whether the comment lines above the clause describe a rule.
func (c ClauseText) Describes() bool {
	return slices.ContainsFunc(c.above, func(l comment) bool {
		return strings.HasPrefix(l.text, "Source:") || strings.HasPrefix(l.text, "For the user:")
	})
}

// DescribedBy reports whether the comment lines above the clause are the description of the rule
// with a number.
func (c ClauseText) DescribedBy(number string) bool {
	block := c.blocks[number]
	return len(block) > 0 && len(c.above) > 0 && c.above[0].line >= block[0].line &&
		c.above[0].line <= block[len(block)-1].line
}

// RuleDoc returns the documentation of the rule with a number, of which this is the first clause:
// the block that begins with its number, else the comment lines above the clause.
func (c ClauseText) RuleDoc(number string) ruleDoc {
	block := c.blocks[number]
	if block == nil {
		_, bare, _ := strings.Cut(number, "/")
		block = c.blocks[bare]
	}
	if block == nil {
		block = c.above
	}
	return parseDoc(block)
}
