package ruleset

// Options bound what rules may spend. The zero value of each field means its default.
type Options struct {
	// Steps and StepsPerRecord give each rule Steps + StepsPerRecord × records steps for a transaction. A
	// step is a clause entered, a primitive called, a record or an object looked at. Defaults: 1,000,000
	// and 1,000.
	Steps, StepsPerRecord int64
	// MaxDepth bounds the clauses on one branch of a proof, and with them memory. Default: 20,000.
	MaxDepth int
	// MaxViolations bounds the violations that are reported of one rule. Default: 1,000.
	MaxViolations int
	// RowsPerRecord bounds the records and objects that the compiled engine looks at for one change record
	// that triggers a rule. Default: 4,194,304.
	RowsPerRecord int64
	// OpenVocabulary accepts kinds and fields that the schema does not have; they match nothing. It is for
	// files of facts, whose schema has what occurs in them.
	OpenVocabulary bool

	// Progress, if not nil, is told how many change records the compiled engine has judged by all rules, of how
	// many. What it does in between is its own affair: the search goes on when it returns. Then one goroutine judges.
	Progress func(done, total int)

	EagerSums    bool // sums are kept from the first question on: for tests
	ParallelFrom int  // records from which rules are judged by two goroutines; 0: the default
}

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
