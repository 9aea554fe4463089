package guard

import (
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/invariants"
)

// The engines that can run rules.
const (
	EngineCompiled  = "compiled"  // compiles each rule to a join plan
	EngineReference = "reference" // interprets rules: slow and complete, the oracle of other engines
)

// Engines lists the engines. The first is the default.
var Engines = []string{EngineCompiled, EngineReference}

// CheckEngine returns an error that lists the choices if name is not one of them. "" is the
// default.
func CheckEngine(name string) error {
	if name != "" && !slices.Contains(Engines, name) {
		return fmt.Errorf("--engine %q is not one of %s", name, strings.Join(Engines, ", "))
	}
	return nil
}

// NewEngine returns the engine of a name, with rules loaded.
func NewEngine(name string, schema *change.Schema, files []invariants.File,
	options invariants.Options) (invariants.Engine, error) {
	if err := CheckEngine(name); err != nil {
		return nil, err
	}
	if name == EngineReference {
		return invariants.NewReference(schema, files, options)
	}
	e, err := invariants.NewCompiled(schema, files, options)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// RuleTime is the time of a rule for one transaction.
type RuleTime struct {
	Rule string `json:"rule"`
	NS   int64  `json:"ns"`
	Rows int64  `json:"rows"` // records and objects that it visited
}

// times returns the time of each rule for the last transaction; nil if the engine does not measure
// it, or Timing is not set.
func (r *Rules) times(fs string) []RuleTime {
	if !r.config.Timing {
		return nil
	}
	system, ok := r.set.Load().systems[fs]
	if !ok {
		return nil
	}
	return EngineTimes(system.engine)
}

// addTimes adds the times of rules for one part of the state.
func (ev *Event) addTimes(times []RuleTime) {
	if len(ev.RuleTimes) != len(times) {
		ev.RuleTimes = append(ev.RuleTimes, times...)
		return
	}
	for i, t := range times {
		ev.RuleTimes[i].NS += t.NS
		ev.RuleTimes[i].Rows += t.Rows
	}
}

// EngineTimes returns the time of each rule for the last transaction; nil if the engine does not
// measure it.
func EngineTimes(e invariants.Engine) []RuleTime {
	measured, ok := e.(interface{ Timing() []invariants.Timing })
	if !ok {
		return nil
	}
	var out []RuleTime
	for _, t := range measured.Timing() {
		out = append(out, RuleTime{t.Rule, t.Last.Nanoseconds(), t.Rows})
	}
	return out
}
