package daemon

import (
	"fsward/hostd/guard"
	"fsward/hostd/output"
	"fsward/hostd/recording"
)

// Self is the state of a daemon itself, beside that of its disks.
type Self struct {
	Version string          `json:"version"`
	Outputs []output.Counts `json:"outputs"` // of the reports and the log
	// Rules describes the rules in force.
	Rules guard.RuleSetInfo `json:"rules"`
	// Guests has the rules of each guest of a daemon with several, whose Rules are empty.
	Guests []GuestRules `json:"guests,omitempty"`
	// Recording is nil if nothing is recorded.
	Recording *recording.Status `json:"recording,omitempty"`
	// CrashAudits has the audit of each disk whose crash states are audited.
	CrashAudits []guard.CrashAuditStatus `json:"crash_audits,omitempty"`
}

// Self returns the state of the daemon itself.
func (d *Daemon) Self() Self {
	s := selfOf(d.outputs)
	s.Recording, s.Rules, s.CrashAudits = d.Recording(), d.Rules(), d.CrashAudits()
	return s
}

// selfOf returns the state of a daemon that reports through queues.
func selfOf(outputs []*output.Queue) Self {
	s := Self{Version: output.Version()}
	for _, q := range outputs {
		s.Outputs = append(s.Outputs, q.Counts())
	}
	return s
}

// GuestRules are the rules in force for a guest.
type GuestRules struct {
	Guest string            `json:"guest"`
	Rules guard.RuleSetInfo `json:"rules"`
}
