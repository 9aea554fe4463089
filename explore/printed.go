package explore

import (
	"fmt"
	"regexp"
	"strings"

	"fsward/explore/agent"
)

// maxPrinted bounds the bytes of a printLog.
const maxPrinted = 256 << 10

// A printLog has the commands that an Env ran, with what they printed.
type printLog struct {
	texts     []string
	taken     int    // number of the texts that take has returned
	bytes     int    // of all texts
	complaint string // the first line about a failure that a command printed although it succeeded
}

// failed matches what programs print when they fail.
var failed = regexp.MustCompile(`(?i)\b(fail(s|ed|ure)?|cannot|can't|unable to|fatal|` +
	`unrecoverable|not repaired|uncorrectable)\b`)

// add adds a command.
func (p *printLog) add(line string, exit agent.Exit) {
	out := strings.TrimSpace(string(exit.Stdout) + string(exit.Stderr))
	if exit.Code == 0 && p.complaint == "" {
		for text := range strings.Lines(out) {
			if failed.MatchString(text) {
				p.complaint = strings.TrimSpace(text)
				break
			}
		}
	}
	text := fmt.Sprintf("$ %s\n%s\n(exit status %d)\n", line, out, exit.Code)
	if p.bytes += len(text); p.bytes <= maxPrinted {
		p.texts = append(p.texts, text)
	}
}

// take returns the texts since its last call.
func (p *printLog) take() []string {
	fresh := p.texts[p.taken:]
	p.taken = len(p.texts)
	return fresh
}
