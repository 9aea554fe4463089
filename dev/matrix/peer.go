package matrix

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
)

// Fsward is fsward's answer for a cell.
type Fsward struct {
	Verdict string   `json:"verdict"`         // "holds", "violated" or "undecided"
	Rules   []string `json:"rules,omitempty"` // names of the violated rules and structure checks
	Detail  string   `json:"detail,omitempty"`
}

// Refused reports whether the commit does not reach the disk.
func (f Fsward) Refused() bool { return f.Verdict != "" && f.Verdict != change.Holds.String() }

// askFsward replays the transaction of a cell with its corruption and returns fsward's verdict.
func askFsward(ctx context.Context, rules *guard.Rules, c *Cell) (Fsward, error) {
	disks, err := offline.OpenOverlays(c.stage.before)
	if err != nil {
		return Fsward{}, err
	}
	defer disks.Close()
	requests, err := c.stage.txn.Patched(c.patches)
	if err != nil {
		return Fsward{}, err
	}
	ev, err := offline.Try(ctx, disks, c.format.name, rules, requests)
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

// A Peer is the answer of another program for the image. Its verdict is "ok", "crashes" or "hangs";
// "reports" from a checker; "refuses" (the mount fails) or "errors" (a look-up fails) from Linux;
// and "" if the program was not asked.
type Peer struct {
	Verdict string `json:"verdict"`
	Message string `json:"message,omitempty"`
}

// Reports reports whether the program found something.
func (p Peer) Reports() bool { return p.Verdict != "" && p.Verdict != "ok" }

// A corrupt image can make a checker run forever. checkTime bounds its processor time, which grows
// slowly on a busy host. waitTime bounds the elapsed time, for a checker that uses no processor.
const (
	checkTime = 20 * time.Second
	waitTime  = 10 * time.Minute
)

// runChecker runs a file system's checker with bounded processor time, in whole seconds. The caller
// interprets the exit status. ended is "hangs" if a bound ended the checker, "crashes" if another
// signal did, and "" if it exited. err is set if it did not start or stop is done.
func runChecker(stop context.Context, cpu time.Duration, name string,
	args ...string) (out []byte, exit int, ended string, err error) {
	ctx, cancel := context.WithTimeout(stop, waitTime)
	defer cancel()
	// The soft limit sends SIGXCPU, which names the cause. The hard limit would send SIGKILL.
	limit := fmt.Sprintf("--cpu=%d:%d", int(cpu.Seconds()), int(cpu.Seconds())+5)
	cmd := exec.CommandContext(ctx, "prlimit", append([]string{limit, name}, args...)...)
	cmd.WaitDelay = checkTime // on a busy host the last output is read late
	out, err = cmd.CombinedOutput()
	var status *exec.ExitError
	switch {
	case stop.Err() != nil:
		return nil, 0, "", stop.Err()
	case ctx.Err() != nil:
		return out, 0, "hangs", nil
	case err == nil:
		return out, 0, "", nil
	case !errors.As(err, &status):
		return out, 0, "", err
	}
	if wait, ok := status.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		if wait.Signal() == syscall.SIGXCPU {
			return out, 0, "hangs", nil
		}
		return out, 0, "crashes", nil
	}
	return out, status.ExitCode(), "", nil
}

// message returns the first three lines of output that noise does not match, at most 300 bytes.
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
