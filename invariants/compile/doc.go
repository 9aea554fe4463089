// Package compile compiles rules to join plans and judges transactions by them. New makes an Engine of a set of rules; what
// it cannot compile, clause by clause, it gives to the reference interpreter.
//
// The prefix of a file says which phase it belongs to:
//
//   - plan_: analyze the goals of a clause, put them into the order that costs least, and report goals that can never be true.
//   - emit_: make the ops of one goal.
//   - op_: what an op does at run time: look up, match, compare.
//   - exec_: the machine, the records of a transaction in lists and indexes, workers, streams of records.
//   - agg_: sums that are kept by their keys.
//
// Start reading at engine.go, then compiler.go and plan.go.
package compile
