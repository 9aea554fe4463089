// Package verdict holds the results of engines as values: a Verdict with its violations and
// witnesses, the Plan of a clause, the Timing of a rule. A Report collects the findings of an
// engine while it runs: a finding is a few numbers, and its text is made once, when the Verdict is
// asked for.
package verdict
