// Package corrupt changes named fields and objects of an ext3 file system as a bug in the guest
// would, and updates the checksums of the journal. NewCorrupter changes the state on a disk.
// NewAlterer changes blocks when they are written to the journal.
//
// Start with object.go, which lists the objects, and spec.go, which parses an alteration. target.go
// finds the objects in blocks, and action.go changes them.
package corrupt
