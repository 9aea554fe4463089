// Package corrupt alters typed fields of Btrfs metadata on purpose and recomputes the checksums. It
// injects the faults that fsward must refuse. SpecHelp describes the grammar of specifications.
// NewAlterer alters the writes of a guest. NewCorrupter alters a disk that is not in use.
//
// Start reading at spec.go. The alterable fields come from the tables of fields in package ondisk.
package corrupt
