// Package forecasttest is for tests. It compares the observations of an interpreter with and
// without forecasts. Start with Pair.
package forecasttest

import (
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp"
)

// An Interpreter makes forecasts.
type Interpreter interface {
	interp.Interpreter
	interp.Forecaster
}

// A Pair follows one disk twice, with forecasts and without.
type Pair struct {
	Plain interp.Interpreter // never makes a forecast
	Ahead Interpreter
	Apply func(interp.Write) // does a write

	Commits  int // commits that were observed
	Foreseen int // commits whose forecast came true

	expected *change.Txn
}

// Show gives a write to both interpreters, compares their observations, and performs the write.
// sound reports whether neither found a fault.
func (p *Pair) Show(t testing.TB, w interp.Write) (sound bool) {
	t.Helper()
	want, got := p.Plain.Observe(w), p.Ahead.Observe(w)
	if a, b := observed(want), observed(got); !slices.Equal(a, b) {
		t.Fatalf("write at %d: %d lines with a forecast, %d without:\n%.2000q\n%.2000q", w.Off, len(b),
			len(a), b, a)
	}
	if got.Point == interp.CommitPoint {
		p.Commits++
		if got.Txn != nil && got.Txn == p.expected {
			p.Foreseen++
		}
	}
	p.Apply(w)
	p.Plain.Settle(true)
	p.Ahead.Settle(true)
	return len(want.Violations) == 0 && want.Unknown == nil
}

// Forecast asks for a forecast and prepares it. If stop is set, it stops the forecast first. made
// reports whether there was a forecast, and ok whether it found the changes of the next commit.
func (p *Pair) Forecast(stop bool) (made, ok bool) {
	fc := p.Ahead.Forecast()
	if fc == nil {
		return false, false
	}
	if stop {
		fc.Stop()
	}
	part, ok := fc.Prepare()
	fc.Judged()
	p.expected = part.Txn
	return true, ok
}

// Flushed passes on which writes to the first disk are durable.
func (p *Pair) Flushed(seq uint64) {
	p.Plain.Flushed(0, seq)
	p.Ahead.Flushed(0, seq)
}

// observed writes an observation as text.
func observed(obs interp.Observation) []string {
	var out []string
	for _, v := range obs.Violations {
		out = append(out, v.Rule+" "+v.Tree+" "+v.ID+" "+v.Detail)
	}
	if obs.Unknown != nil {
		out = append(out, obs.Unknown.Error())
	}
	if obs.Txn != nil {
		for _, r := range obs.Txn.Records {
			out = append(out, obs.Txn.Schema.RecordText(r, obs.Txn.Names))
		}
	}
	return append(out, obs.Note)
}
