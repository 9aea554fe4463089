// Package crashaudit audits the crash states of a guarded disk beside its guard. The work is done
// by a process of its own with the lowest priority, fsward explore log --follow, which reads the
// recording. The guard never waits for it.
//
// Start reading at Start.
package crashaudit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"fsward/explore/audit"
	"fsward/explore/audit/live"
)

// Bounds of the process.
const (
	limit        = "64"     // crash states of one moment
	memory       = "256M"   // of the pages that the log changes
	goMemory     = "512MiB" // of the process; it collects garbage to stay below
	lineBytes    = 1 << 20  // of a line that it prints
	errorBytes   = 4 << 10  // that are kept of what it says on stderr
	endPatience  = 5 * time.Second
	killPatience = time.Second
)

// A Config says what is audited.
type Config struct {
	Log, Base string // paths of the recording's first segment and of the base that follows it
	FS        string
	RulesDir  string   // "" for the built-in rules
	AddRules  []string // bundles of a site
	Program   string   // path of fsward; "" for the running program
	// Report receives each report but those of progress. It must not block for long.
	Report func(live.Report)
	// Failed is called at most once, if the audit ends before Close.
	Failed func(error)
}

// Status is the state of an audit.
type Status struct {
	live.Totals
	Findings int    `json:"findings"` // kinds
	Error    string `json:"error,omitempty"`
}

// An Audit is a running audit. It is safe for concurrent use.
type Audit struct {
	cfg   Config
	cmd   *exec.Cmd
	stdin io.Closer
	said  tail          // what it says on stderr
	done  chan struct{} // closed when the process has ended

	mu     sync.Mutex
	status Status
	whole  bool // the process has audited everything
	ending bool // Close was called
}

// Start starts the audit of a recording that has begun.
func Start(cfg Config) (*Audit, error) {
	a := &Audit{cfg: cfg, done: make(chan struct{})}
	program := cfg.Program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	a.cmd = exec.Command(program)
	a.cmd.Args = []string{"fsward", "explore", "log", "--follow", "--json", "--base", cfg.Base,
		"--fs", cfg.FS, "--crash-limit", limit, "--crash-memory", memory}
	if cfg.RulesDir != "" {
		a.cmd.Args = append(a.cmd.Args, "--rules", cfg.RulesDir)
	}
	for _, b := range cfg.AddRules {
		a.cmd.Args = append(a.cmd.Args, "--add-rules", b)
	}
	a.cmd.Args = append(a.cmd.Args, "--", cfg.Log)
	a.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOMEMLIMIT="+goMemory)
	// A session of its own: the priority of a session is that of all its processes, and Ctrl-C is for
	// the guard.
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	a.cmd.Stderr = &a.said
	var err error
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the audit of crash states: %w", err)
	}
	go a.run(out)
	return a, nil
}

// run reads what the process prints, until it ends.
func (a *Audit) run(out io.Reader) {
	defer close(a.done)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, lineBytes)
	var bad error
	for bad == nil && lines.Scan() {
		bad = a.line(lines.Bytes())
	}
	if bad = errors.Join(bad, lines.Err()); bad != nil {
		_ = a.cmd.Process.Kill()
	}
	err := a.cmd.Wait()
	a.mu.Lock()
	var failed error
	switch {
	case bad != nil:
		failed = bad
	case !a.whole && !a.ending:
		failed = fmt.Errorf("it has ended (%w): %s", cmp.Or(err, errUnfinished), &a.said)
	case !a.whole:
		failed = fmt.Errorf("%d bytes of the recording were not audited: the audit took longer than %v "+
			"at the end", a.status.Behind, endPatience)
	}
	if failed != nil {
		a.status.Error = failed.Error()
	}
	a.mu.Unlock()
	if failed != nil {
		a.cfg.Failed(failed)
	}
}

var errUnfinished = errors.New("without a result")

// line takes a line of the process.
func (a *Audit) line(text []byte) error {
	var kind struct{ Event string }
	if err := json.Unmarshal(text, &kind); err != nil {
		return fmt.Errorf("the audit prints %.80q: %w", text, err)
	}
	var r live.Report
	var err error
	switch kind.Event {
	case "finding":
		r.Finding = new(audit.Finding)
		err = json.Unmarshal(text, r.Finding)
	case "skipped":
		if err = json.Unmarshal(text, &r); err == nil && r.From == nil {
			err = errors.New("a line without its place")
		}
	default:
		var t live.Totals
		if err = json.Unmarshal(text, &t); err == nil {
			a.mu.Lock()
			a.status.Totals, a.whole = t, kind.Event == "audited"
			a.mu.Unlock()
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("the audit prints %.80q: %w", text, err)
	}
	if r.Finding != nil {
		a.mu.Lock()
		a.status.Findings++
		a.mu.Unlock()
	}
	a.cfg.Report(r)
	return nil
}

// Status returns the state of the audit.
func (a *Audit) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status
}

// Close ends the audit when nothing more is recorded. It waits a bounded time for what is left.
func (a *Audit) Close() {
	a.mu.Lock()
	a.ending = true
	a.mu.Unlock()
	_ = a.stdin.Close()
	select {
	case <-a.done:
		return
	case <-time.After(endPatience):
	}
	_ = a.cmd.Process.Kill()
	select {
	case <-a.done:
	case <-time.After(killPatience): // it is stuck in the kernel, and Failed comes later
	}
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - errorBytes; n > 0 {
		t.text = bytes.Clone(t.text[n:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
