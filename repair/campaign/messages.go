package campaign

import (
	"regexp"
	"slices"
	"strings"

	"fsward/repair/adapter"
)

// Parts of messages that differ between damages with the same cause.
var (
	quoted  = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)`)
	numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9a-fA-F]*[0-9][0-9a-fA-F]*`)
)

const (
	maxMessages = 24   // lines of a group's messages
	maxLine     = 160  // bytes of a line
	maxScanned  = 4096 // lines of the output that are read
)

// messages reduces the output of a run to what tells causes apart: its different lines without
// numbers and names, in order.
func messages(p *adapter.Program, output []byte) []string {
	lines := strings.SplitN(strings.ToValidUTF8(string(output), "?"), "\n", maxScanned)
	var out []string
	for _, l := range lines {
		if p.Noise.Regexp != nil {
			l = p.Noise.ReplaceAllString(l, "")
		}
		l = numbers.ReplaceAllString(quoted.ReplaceAllString(l, "…"), "N")
		if l = strings.Join(strings.Fields(l), " "); l == "" {
			continue
		}
		if l = strings.ToValidUTF8(l[:min(len(l), maxLine)], ""); !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxMessages)]
}

// common returns the messages of a that b has, too.
func common(a, b []string) (out []string) {
	for _, m := range a {
		if slices.Contains(b, m) {
			out = append(out, m)
		}
	}
	return out
}
