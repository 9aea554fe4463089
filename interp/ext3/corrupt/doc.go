// Package corrupt changes named fields and objects of an ext3 file system as a bug in the guest
// would, and makes the checksums of the journal right again: in the state that a disk holds
// (NewCorrupter), or in blocks on their way into the journal (NewAlterer).
//
// Start with object.go, which lists what can be altered, and spec.go, which reads what to alter and
// where. target.go finds the objects in blocks, action.go changes them.
package corrupt
