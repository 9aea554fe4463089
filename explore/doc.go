// Package explore model-checks storage software, as EXPLODE (OSDI 2006) does: it runs the software
// in a guest, explores all choices and all crashes, and checks each resulting state.
//
// The user writes a Checker. It changes a storage system, and it states what must hold after a
// crash. The checker stands on a Stack of Components. A component states how to make, mount and
// recover one layer. Checkers and components call Env.Choose where several actions are possible,
// and the explorer executes each of them once.
//
// A state is the sequence of values that Choose returned. To reach a state again, the explorer
// restores the pristine disks, mounts the stack, and lets Choose return the same values.
//
// Start reading with Run (explorer.go), which takes states from the frontier. session.attempt
// (execution.go) executes one of them, and explorer.examine (child.go) looks for failures in it.
package explore
