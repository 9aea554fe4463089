package hostd

import (
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/invariants"
)

// The engines that can run rules.
const (
	EngineReference = "reference" // interprets: slow, complete, the judge of other engines
)

// Engines lists the engines; the first is the default.
var Engines = []string{EngineReference}

// CheckEngine returns an error that lists the choices if name is none of them; "" is the default.
func CheckEngine(name string) error {
	if name != "" && !slices.Contains(Engines, name) {
		return fmt.Errorf("--engine %q is not one of %s", name, strings.Join(Engines, ", "))
	}
	return nil
}

func newEngine(name string, schema *change.Schema, files []invariants.File, options invariants.Options) (invariants.Engine, error) {
	if err := CheckEngine(name); err != nil {
		return nil, err
	}
	return invariants.NewReference(schema, files, options)
}

// RuleTime is what a rule cost for one transaction.
type RuleTime struct {
	Rule string `json:"rule"`
	NS   int64  `json:"ns"`
}

// times returns what each rule cost for the transaction judged last; nil if the engine does not measure it or
// it was not asked for.
func (r *Rules) times(fs string) []RuleTime {
	if !r.config.Timing {
		return nil
	}
	return engineTimes(r.set.Load().engines[fs])
}

func engineTimes(invariants.Engine) []RuleTime { return nil }

// engineNotes tells which clauses an engine cannot run itself.
func engineNotes(invariants.Engine, map[string]bool) []Finding { return nil }
