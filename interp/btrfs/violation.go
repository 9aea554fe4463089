package btrfs

import (
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A structureRule names a check that runs in Go before any rule, and states the checked property in
// one sentence.
type structureRule struct{ name, doc string }

var (
	superRule = structureRule{"btrfs/superblock",
		"The superblock is well formed, belongs to this file system, and never goes back to an " +
			"older generation."}
	csumTypeRule = structureRule{"btrfs/csum-type",
		"The superblock names a known checksum algorithm, and the same one as before."}
	csumRule = structureRule{"btrfs/csum",
		"The checksum of a metadata block matches its contents."}
	headerRule = structureRule{"btrfs/header",
		"The header of a metadata block names its address, its file system and its chunk tree, and " +
			"has no unknown flags."}
	levelRule = structureRule{"btrfs/level",
		"The level of a metadata block is one less than that of the block that points to it."}
	ownerRule = structureRule{"btrfs/owner",
		"A metadata block belongs to the tree in which it is found."}
	generationRule = structureRule{"btrfs/generation",
		"The generation of a metadata block is the one that its parent names, and does not exceed " +
			"the superblock's."}
	nritemsRule = structureRule{"btrfs/nritems",
		"A metadata block holds no more items than fit, and at least one except in an empty tree."}
	keyOrderRule = structureRule{"btrfs/key-order",
		"Keys ascend within a metadata block and from one block to the next."}
	parentKeyRule = structureRule{"btrfs/parent-key",
		"The key that a pointer carries is the first key of the block it points to."}
	itemBoundsRule = structureRule{"btrfs/item-bounds",
		"The items of a leaf lie within it and fill it without gaps from its end."}
	pointerRule = structureRule{"btrfs/block-pointer",
		"A pointer to a metadata block leads into a chunk of metadata."}
	copiesRule = structureRule{"btrfs/copies",
		"All copies of a metadata block have the same contents."}
	twiceRule = structureRule{"btrfs/block-twice",
		"A metadata block occurs at most once in a tree."}
	chunkRule = structureRule{"btrfs/chunk",
		"A chunk has a known type, lies within the device and overlaps no other."}
	rootRule = structureRule{"btrfs/root",
		"Each tree that the file system needs has exactly one root item."}
	itemTypeRule = structureRule{"btrfs/item-type",
		"A tree holds only items of the types that belong in it."}
	itemRule = structureRule{"btrfs/item",
		"The contents of an item are well formed for its type."}
	overlapRule = structureRule{"btrfs/item-overlap",
		"The checksums in an item end before those in the next begin, and so do the extents of a file."}
	uniqueRule = structureRule{"btrfs/unique",
		"An object occurs at most once in a tree."}
	baseRule = structureRule{"btrfs/base-block",
		"A metadata block of the last commit stays intact until the next commit is on the disk."}
	liveDataRule = structureRule{"btrfs/base-data",
		"Data that the last commit has a checksum for keeps its contents until the next commit is " +
			"on the disk."}
	logBlockRule = structureRule{"btrfs/log-block",
		"A metadata block of the last log commit stays intact until the next commit or log commit " +
			"is on the disk."}
	directionRule = structureRule{"btrfs/misdirected",
		"A metadata block is written to the address in its header."}
	flushRule = structureRule{"btrfs/flush",
		"All blocks that a superblock leads to are flushed before the superblock is written."}
	refusedRule = structureRule{"btrfs/refused-copy",
		"After a commit is refused, no copy of its superblock reaches the disk."}
)

// structureRules lists all structure rules, for tests and documents.
var structureRules = []structureRule{superRule, csumTypeRule, csumRule, headerRule, levelRule,
	ownerRule, generationRule, nritemsRule, keyOrderRule, parentKeyRule, itemBoundsRule, pointerRule,
	copiesRule, twiceRule, chunkRule, rootRule, itemTypeRule, itemRule, overlapRule, uniqueRule,
	baseRule, refusedRule, liveDataRule, logBlockRule, directionRule, flushRule}

// thesisOrigins maps structure rules to the properties of the thesis that they check.
var thesisOrigins = map[structureRule]string{
	nritemsRule: "thesis, table 4.1 (1), for leaves too; btrfs_check_node and __btrfs_check_leaf",
	keyOrderRule: "thesis, table 4.1 (2), for leaves and from block to block too; " +
		"btrfs_check_node and __btrfs_check_leaf",
	parentKeyRule: "thesis, table 4.1 (3); btrfs_verify_level_key",
	directionRule: "thesis, table 4.1 (4), at each write; btrfs/header at each read, " +
		"as btrfs_validate_extent_buffer",
	generationRule: "thesis, table 4.1 (5); btrfs_validate_extent_buffer",
	csumTypeRule: "thesis, table 5.2 (19), which demands zero, as Linux had crc32c alone. " +
		"Linux 5.5 has four algorithms, and mkfs chooses one; btrfs_supported_super_csum",
}

// Checks describes the checks of each block and of each write that run before any rule.
func Checks() []interp.Check {
	var list []interp.Check
	for _, r := range structureRules {
		list = append(list, interp.Check{Name: r.name, Doc: r.doc, Origin: thesisOrigins[r]})
	}
	return list
}

// A structureError is a violation of structure as an error.
type structureError struct{ v change.Violation }

func (e *structureError) Error() string {
	if e.v.HasAddr {
		return fmt.Sprintf("%s at device address %s: %s", e.v.Rule, addressText(e.v.Addr), e.v.Detail)
	}
	return e.v.Rule + ": " + e.v.Detail
}

// violatedAt returns the error for a violation of a rule at a device address.
func violatedAt(r structureRule, addr uint64, format string, args ...any) *structureError {
	e := violated(r, format, args...)
	e.v.Addr, e.v.HasAddr = addr, true
	return e
}

// violated is violatedAt for a violation without a known address.
func violated(r structureRule, format string, args ...any) *structureError {
	return &structureError{change.Violation{
		Rule: r.name, Kind: change.ByStructure, Doc: r.doc, Detail: fmt.Sprintf(format, args...),
	}}
}

// onWrite marks an error as a write violation: it is about a single write, not about the state of
// the file system.
func onWrite(e *structureError) *structureError {
	e.v.Kind = change.ByWrite
	return e
}

// in sets the tree and the key of an error, unless it already has them.
func (e *structureError) in(tree uint64, k ondisk.Key) *structureError {
	if e.v.Tree == "" {
		e.v.Tree, e.v.ID = change.NumText(tree), k.String()
	}
	return e
}
