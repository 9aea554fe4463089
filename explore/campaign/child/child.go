// Package child runs the units of campaigns as child processes of fsward.
//
// A unit that crashes or hangs takes only its own process with it, and a unit does what its command
// would do on a terminal. Start reading at Runner.
package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fsward/explore/campaign"
)

// A Runner runs units as commands of programs.
type Runner struct {
	Program string   // fsward; the other programs are in its folder
	Guest   string   // folder of the guest
	Work    string   // folder for what units write; each has a folder in it while it runs
	CPUs    [][]int  // processors of the task in a slot; empty: all
	Env     []string // of the commands
}

// stopTime is how long a command may take to end when it is asked to: it ends its guest.
const stopTime = 20 * time.Second

// Bounds of what a command prints.
const (
	maxLine   = 16 << 20
	maxErrors = 4 << 10 // of its stderr, the last bytes
)

// Run runs a unit.
func (r *Runner) Run(ctx context.Context, t campaign.Task) (campaign.Done, error) {
	dir, err := newUnitFolder(r.Work)
	if err != nil {
		return campaign.Done{}, err
	}
	d, err := r.run(ctx, t, dir.path)
	if err != nil {
		return d, errors.Join(err, dir.remove())
	}
	d.Remove = dir.remove
	return d, nil
}

// run runs a unit whose files are in a folder.
func (r *Runner) run(ctx context.Context, t campaign.Task, dir string) (d campaign.Done,
	err error) {
	kind, err := campaign.KindOf(t.Definition.Kind)
	if err != nil {
		return d, err
	}
	own := []string{"--json", "--out=" + filepath.Join(dir, "out")}
	if kind.Guest {
		own = append(own, "--guest="+r.Guest)
	}
	if err := t.Definition.WriteFiles(dir); err != nil {
		return d, err
	}
	args, err := t.Definition.Args(t.Unit, dir, own...)
	if err != nil {
		return d, err
	}
	cmd := exec.CommandContext(ctx, kind.Path(r.Program), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), r.Env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	// A signal from the terminal reaches the worker, which ends its commands. They also end if the
	// worker is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	words := &tail{max: maxErrors}
	cmd.Stderr = words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return d, err
	}
	if err := r.start(cmd, t.Slot); err != nil {
		return d, err
	}
	p := printed{dir: dir, complete: true}
	readErr := p.read(out)
	_, _ = io.Copy(io.Discard, out) // after an error, so that the command can end
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		d.Exit, err = 1, nil // it found errors
	}
	switch err = errors.Join(err, readErr); {
	case err != nil:
		return d, fmt.Errorf("%w: %s", err, words.text())
	case !p.ended:
		return d, errors.New("the command printed no result")
	case !p.complete && slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "--range=") // all of a range
	}):
		return d, errors.New("the command did not test everything")
	case d.Exit == 1 && len(p.found) == 0:
		return d, errors.New("the command found errors, and did not print them")
	}
	d.Findings = p.found
	return d, nil
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	max int
	b   []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[max(0, len(p)-t.max):]...)
	t.b = t.b[max(0, len(t.b)-t.max):]
	return len(p), nil
}

func (t *tail) text() string { return strings.TrimSpace(string(t.b)) }

// printed is what a command printed: the lines of --json.
type printed struct {
	dir      string // of the unit; the folders of findings are in it
	found    []campaign.Found
	ended    bool // it printed its summary
	complete bool // every summary says that everything was tested
}

// A line is a line of --json: the summary of explore run, b3 and survey, or a finding or the
// summary of fsck run. Other keys and lines are of no interest.
type line struct {
	Event    string `json:"event"`
	Complete bool   `json:"complete"`
	Errors   []struct {
		Kind     string `json:"kind"`
		Surprise bool   `json:"surprise"`
		Dir      string `json:"dir"`
		Summary  string `json:"summary"`
		Count    uint64 `json:"count"`
	} `json:"errors"`
	Dir    string `json:"dir"`
	Kind   string `json:"kind"`
	Group  string `json:"group"`
	Damage string `json:"damage"`
	Detail string `json:"detail"`
}

// read reads lines until the output ends.
func (p *printed) read(out io.Reader) error {
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	for s.Scan() {
		// Most lines are progress, and long.
		if text := s.Bytes(); bytes.HasPrefix(text, []byte(`{"event":"explored"`)) ||
			bytes.HasPrefix(text, []byte(`{"event":"finding"`)) ||
			bytes.HasPrefix(text, []byte(`{"event":"tested"`)) {
			var l line
			if err := json.Unmarshal(text, &l); err != nil {
				return fmt.Errorf("what the command printed: %w", err)
			}
			if err := p.add(l); err != nil {
				return err
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("what the command printed: %w", err)
	}
	return nil
}

// add takes a line into account.
func (p *printed) add(l line) error {
	if l.Event == "finding" {
		p.found = append(p.found, campaign.Found{Kind: l.Kind, Property: l.Group,
			Summary: l.Damage + ": " + l.Detail, Count: 1, Dir: l.Dir})
		return nil
	}
	p.ended, p.complete = true, p.complete && l.Complete
	for _, e := range l.Errors {
		f := campaign.Found{Kind: e.Kind, Surprise: e.Surprise, Summary: e.Summary, Count: e.Count,
			Dir: e.Dir}
		var err error
		if f.Property, err = property(e.Dir); err != nil {
			return err
		}
		f.Skeleton = skeleton(e.Dir)
		p.found = append(p.found, f)
	}
	return nil
}

// property returns the property that a finding of the explorer violates, from its folder.
func property(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "error.json"))
	if err != nil {
		return "", err
	}
	var e struct {
		Property string `json:"property"`
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return "", fmt.Errorf("%s: %w", dir, err)
	}
	return e.Property, nil
}

// skeleton returns the operations of the workload that shows a finding; "": it is not of b3.
func skeleton(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "workload.txt"))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), "# skeleton: ")
	of, _, _ := strings.Cut(after, ";")
	return of
}
