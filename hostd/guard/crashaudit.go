package guard

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/explore/audit"
	"fsward/explore/audit/live"
	"fsward/hostd/crashaudit"
)

// CrashAuditStatus is the state of the audit of a disk's crash states.
type CrashAuditStatus struct {
	Guest string `json:"guest,omitempty"` // if the daemon has several
	Disk  string `json:"disk"`
	crashaudit.Status
}

// checkAudit returns an error if the configuration audits crash states without what that needs.
func (c *Config) checkAudit() error {
	if c.AuditCrashes && (c.Record == "" || c.RecordBase == "") {
		return errors.New("--audit-crashes needs --record and --record-base: " +
			"crash states are formed from the recorded writes and a copy of the disk")
	}
	return nil
}

// crashAudits are the audits of crash states, one for each disk. It is empty if there are none.
type crashAudits struct {
	audited []*guardedDisk
	log     *zap.Logger
}

// start starts the audit of each disk's crash states, if the configuration asks for it.
func (c *crashAudits) start(cfg Config, disks []*guardedDisk, log *zap.Logger) error {
	if !cfg.AuditCrashes {
		return nil
	}
	c.audited, c.log = disks, log
	for _, g := range disks {
		a, err := crashaudit.Start(crashaudit.Config{
			Log:  RecordPath(cfg, g.name),
			Base: pathOf(cfg, cfg.RecordBase, g.name),
			FS:   cfg.FS, RulesDir: cfg.Rules.Dir, AddRules: cfg.Rules.Add,
			Report: func(r live.Report) { g.guard.report(nil, auditEvent(g.name, r)) },
			Failed: func(err error) { c.failed(g, err) },
		})
		if err != nil {
			return err
		}
		g.audit = a
	}
	return nil
}

// auditEvent returns the event of a report.
func auditEvent(disk string, r live.Report) *Event {
	if f := r.Finding; f != nil {
		return &Event{Disk: disk, Volume: f.Volume, FS: f.FS, Kind: KindCrashState,
			Outcome: change.Violated, Crash: f,
			Violations: []change.Violation{{Rule: f.Kind, Kind: change.ByRule,
				Doc: "A crash leaves a file system that recovery makes consistent.", Detail: f.Text}},
			Note: fmt.Sprintf("a crash after entry %d of %s could have left this; writes missing: %d",
				f.After.Entry, f.After.Log, len(f.Missing))}
	}
	return &Event{Disk: disk, Kind: KindAudit, Outcome: change.Holds, NotAudited: r.From,
		Note: fmt.Sprintf("crash states are not audited from entry %d of %s on: %s", r.From.Entry,
			r.From.Log, r.Skipped)}
}

// failed reports that the audit of a disk has ended too early. The guest goes on.
func (c *crashAudits) failed(g *guardedDisk, err error) {
	c.log.Error("the audit of crash states has ended; the guest goes on", zap.String("disk", g.name),
		zap.Error(err))
	g.guard.report(nil, &Event{Disk: g.name, Kind: KindAudit, Outcome: change.Holds, Err: err.Error(),
		Note: fmt.Sprintf("the audit of crash states has ended; the guest goes on: %v", err)})
}

// end ends the audits when nothing more is recorded, and waits a bounded time for each.
func (c *crashAudits) end() {
	for _, g := range c.audited {
		if g.audit != nil {
			g.audit.Close()
		}
	}
}

// CrashAudits returns the state of the audit of each disk's crash states; nil if there is none.
func (c *crashAudits) CrashAudits() (all []CrashAuditStatus) {
	for _, g := range c.audited {
		if g.audit != nil {
			all = append(all, CrashAuditStatus{Disk: g.name, Status: g.audit.Status()})
		}
	}
	return all
}

// outcome returns Undecided if an audit has failed or could not judge a state: the exit status
// says so.
func (c *crashAudits) outcome() change.Outcome {
	for _, s := range c.CrashAudits() {
		if s.Error != "" || s.Undecided > 0 {
			return change.Undecided
		}
	}
	return change.Holds
}

// worst returns the worse of two outcomes of which none is Violated.
func worst(a, b change.Outcome) change.Outcome {
	if a == change.Holds {
		return b
	}
	return a
}

// A Place is a place in a recording.
type Place = audit.Place
