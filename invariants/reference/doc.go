// Package reference interprets rules on the Prolog interpreter of ichiban/prolog. It is slow and
// complete; the compiled engine is tested against it. Engine judges transactions. QuerySession
// answers a person's questions about one transaction: the answers of a goal, and why a rule found a
// violation.
//
// The package also defines what the primitives of rules mean in the state after a transaction, for
// both engines: walks to the neighbor of a key, ranges of keys, hashes of names. Start reading at
// engine.go, then builtins.go.
package reference
