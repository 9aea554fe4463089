// Package compile compiles rules to join plans and judges transactions by them. New makes an Engine
// of a set of rules. Clauses that it cannot compile go to the reference interpreter.
//
// The prefix of a file names its phase:
//
//   - plan_: analyze the goals of a clause, order them by cost, report those that are never true.
//   - emit_: make the ops of one goal.
//   - op_: what ops do at run time: look up, match, compare.
//   - exec_: the machine, lists and indexes of records, workers, streams of records.
//   - agg_: sums that are kept by their keys.
//
// Start reading at engine.go, then programs.go, compiler.go and plan.go.
package compile
