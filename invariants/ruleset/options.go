package ruleset

import "fsward/change"

// A Setting changes one rule.
type Setting struct {
	Off      bool   // it does not run
	Severity string // a severity; "": that of its text
}

// Options bound what rules may spend. A zero field means its default.
type Options struct {
	// Steps and StepsPerRecord give each rule Steps + StepsPerRecord × records steps for a
	// transaction. A step is a clause entered, a primitive called, or a record or an object looked
	// at. Defaults: 1,000,000 and 1,000.
	Steps, StepsPerRecord int64
	// MaxDepth bounds the clauses on one branch of a proof, and thereby memory. Default: 20,000.
	MaxDepth int
	// MaxViolations bounds the violations that are reported for each rule. Default: 1,000.
	MaxViolations int
	// RowsPerRecord bounds the records and objects that the compiled engine looks at for one change
	// record that triggers a rule. Default: 4,194,304.
	RowsPerRecord int64
	// OpenVocabulary accepts kinds and fields that the schema does not have; they match nothing.
	// Files of facts need it, because their schema has only what occurs in them.
	OpenVocabulary bool
	// Others are the schemas of other file systems: a mistake names the one that has an unknown kind.
	Others []*change.Schema
	// Settings changes rules, by their names. Names that no rule has do nothing.
	Settings map[string]Setting

	// Progress, if not nil, is called with the number of change records that the compiled engine
	// has judged by all rules, and with their total. The engine waits until it returns. With
	// Progress, one goroutine judges.
	Progress func(done, total int)
	// StreamProgress is Progress for transactions that are judged part by part. Others are judged in
	// less time than a report is worth, by two goroutines.
	StreamProgress func(done, total int)
	// Late compiles the rules when the first transaction is judged, and loads them into the reference
	// interpreter when it first judges a clause: for an engine that may judge none. Mistakes that only
	// then show make the judgment undecided.
	Late bool

	EagerSums    bool // keeps sums from the first question on; for tests
	ParallelFrom int  // judges by two goroutines from this number of records on; 0 means the default
}

// WithDefaults replaces zero fields by their defaults.
func (o Options) WithDefaults() Options {
	orDefault := func(n *int64, d int64) {
		if *n <= 0 {
			*n = d
		}
	}
	orDefault(&o.Steps, 1_000_000)
	orDefault(&o.StepsPerRecord, 1_000)
	orDefault(&o.RowsPerRecord, 1<<22)
	if o.MaxDepth <= 0 {
		o.MaxDepth = 20_000
	}
	if o.MaxViolations <= 0 {
		o.MaxViolations = 1_000
	}
	return o
}
