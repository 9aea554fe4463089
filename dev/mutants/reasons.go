package mutants

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// Reasons reads why mutants survive, by their names. The file has paragraphs: a comment (#) with
// the reason, and below it the mutants for which it holds, one a line.
func Reasons(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make(map[string]string)
	reason, open := "", false // open: the comment goes on
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
			return nil, fmt.Errorf("%s:%d: a mutant without a reason", path, n)
		case out[line] != "":
			return nil, fmt.Errorf("%s:%d: a mutant that is listed twice", path, n)
		default:
			out[line], open = reason, false
		}
	}
	return out, lines.Err()
}
