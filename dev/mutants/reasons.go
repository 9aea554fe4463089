package mutants

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Reasons reads a file of mutants that are equivalent to their rule. It returns the reason for each
// mutant by its name. The file consists of paragraphs: a comment (#) gives the reason, and the
// lines below it name the mutants, one a line.
func Reasons(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make(map[string]string)
	reason, open := "", false // open: the line before is part of the same comment
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		text, isComment := strings.CutPrefix(line, "#")
		switch {
		case isComment && open:
			reason += " " + strings.TrimSpace(text)
		case isComment:
			reason, open = strings.TrimSpace(text), true
		case line == "":
			reason, open = "", false
		case reason == "":
			return nil, fmt.Errorf("%s:%d: no comment gives the reason for this mutant", path, n)
		case out[line] != "":
			return nil, fmt.Errorf("%s:%d: the mutant is listed twice", path, n)
		default:
			out[line], open = reason, false
		}
	}
	return out, lines.Err()
}
