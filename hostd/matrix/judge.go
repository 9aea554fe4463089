package matrix

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"fsward/change"
	"fsward/hostd"
)

// What fsward says of a cell.
type Fsward struct {
	Verdict string   `json:"verdict"`         // "holds", "violated", "undecided"
	Rules   []string `json:"rules,omitempty"` // violated, by name; structure too
	Detail  string   `json:"detail,omitempty"`
}

// Refused tells whether the commit does not reach the disk.
func (f Fsward) Refused() bool { return f.Verdict != "" && f.Verdict != change.Holds.String() }

// askFsward replays the transaction of a cell with the corruption in it.
func askFsward(ctx context.Context, rules *hostd.Rules, c *Cell) (Fsward, error) {
	disks, err := hostd.OpenOverlays(c.stage.before)
	if err != nil {
		return Fsward{}, err
	}
	defer disks.Close()
	requests, err := c.stage.txn.Patched(c.patches)
	if err != nil {
		return Fsward{}, err
	}
	ev, err := hostd.Try(ctx, disks, c.format.name, rules, requests)
	if err != nil {
		return Fsward{}, err
	}
	if ev == nil {
		return Fsward{Verdict: change.Holds.String()}, nil
	}
	out := Fsward{Verdict: ev.Outcome.String()}
	for _, v := range ev.Violations {
		out.Rules = append(out.Rules, v.Rule)
		if out.Detail == "" {
			out.Detail = v.Doc
			if v.Detail != "" {
				out.Detail = v.Detail
			}
		}
	}
	slices.Sort(out.Rules)
	out.Rules = slices.Compact(out.Rules)
	if len(ev.Undecided) > 0 {
		out.Detail = ev.Undecided[0]
	}
	return out, nil
}

// A Peer is what another program says of the image.
type Peer struct {
	Verdict string `json:"verdict"` // "" not asked; "ok", "reports", "crashes", "hangs"
	Message string `json:"message,omitempty"`
}

// Reports tells whether the program found something.
func (p Peer) Reports() bool { return p.Verdict != "" && p.Verdict != "ok" }

// checkTime is what a checker may take: a corrupt image can make it run for ever.
const checkTime = 20 * time.Second

// runChecker runs a file system's checker. Its exit status is for the caller to judge; ended is "" unless it did not
// end, or crashed.
func runChecker(ctx context.Context, name string, args ...string) (out []byte, exit int, ended string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = checkTime // after it has ended, too: what it printed is read late on a busy host
	out, err = cmd.CombinedOutput()
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return out, 0, "hangs", nil
	case err == nil:
		return out, 0, "", nil
	case !errors.As(err, &status):
		return out, 0, "", err
	case status.ExitCode() < 0:
		return out, 0, "crashes", nil
	}
	return out, status.ExitCode(), "", nil
}

// message is the first lines that say what is wrong: none of noise.
func message(out []byte, noise *regexp.Regexp) string {
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if !noise.MatchString(l) {
			lines = append(lines, strings.TrimSpace(l))
		}
	}
	if len(lines) > 3 {
		lines = lines[:3]
	}
	text := strings.ToValidUTF8(strings.Join(lines, " | "), "?")
	return text[:min(len(text), 300)]
}
