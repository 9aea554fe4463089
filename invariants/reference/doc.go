// Package reference interprets rules on the Prolog interpreter of ichiban/prolog: slow, complete, and what other engines
// are compared with. Engine judges transactions. QuerySession answers questions of people about one transaction: the answers
// of a goal, and why a violation was found.
//
// The package also defines what the primitives of rules mean in the state after a transaction, for both engines: walks
// to the neighbor of a key, ranges of keys, hashes of names. Start reading at engine.go, then builtins.go.
package reference
