// Package corrupt alters Btrfs metadata on purpose, with knowledge of its types, and makes the
// checksums right again: it causes the faults that fsward has to refuse. SpecHelp describes what a
// specification may ask for. NewAlterer changes the writes of a guest, NewCorrupter a disk at rest.
//
// Start reading at spec.go; what can be altered comes from the tables of fields in package ondisk.
package corrupt
