package btrfs

import (
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A structureRule is a check that is made in Go before any rule runs: its name and the property in
// one sentence.
type structureRule struct{ name, doc string }

var (
	superRule      = structureRule{"btrfs/superblock", "The superblock is well formed, names this file system, and its generation only grows."}
	csumTypeRule   = structureRule{"btrfs/csum-type", "The superblock names a kind of checksum that is known, and the same one as before."}
	csumRule       = structureRule{"btrfs/csum", "The checksum of a metadata block matches its contents."}
	headerRule     = structureRule{"btrfs/header", "The header of a metadata block names its own address, its file system and its chunk tree, and has known flags."}
	levelRule      = structureRule{"btrfs/level", "The level of a metadata block is one less than that of the block that points to it."}
	ownerRule      = structureRule{"btrfs/owner", "A metadata block belongs to the tree in which it is found."}
	generationRule = structureRule{"btrfs/generation", "The generation of a metadata block is what its parent says, and not beyond the superblock's."}
	nritemsRule    = structureRule{"btrfs/nritems", "The number of items in a metadata block is one that fits, and not zero except in an empty tree."}
	keyOrderRule   = structureRule{"btrfs/key-order", "Keys grow within a metadata block and from one block to the next."}
	parentKeyRule  = structureRule{"btrfs/parent-key", "The key that a pointer carries is the first key of the block it points to."}
	itemBoundsRule = structureRule{"btrfs/item-bounds", "The items of a leaf lie within it, one otherBytes the other, from its end."}
	pointerRule    = structureRule{"btrfs/block-pointer", "A pointer to a metadata block leads into a chunk of metadata."}
	copiesRule     = structureRule{"btrfs/copies", "All copies of a metadata block have the same contents."}
	twiceRule      = structureRule{"btrfs/block-twice", "A metadata block has one place in a tree."}
	chunkRule      = structureRule{"btrfs/chunk", "A chunk has a known type, lies within the device and overlaps no other."}
	rootRule       = structureRule{"btrfs/root", "Each tree that the file system needs has exactly one root item."}
	itemTypeRule   = structureRule{"btrfs/item-type", "A tree holds only items of the types that belong in it."}
	itemRule       = structureRule{"btrfs/item", "The contents of an item are well formed for its type."}
	overlapRule    = structureRule{"btrfs/item-overlap", "The checksums in an item end before those in the next begin, and so do the extents of a file."}
	uniqueRule     = structureRule{"btrfs/unique", "An object stands in a tree once."}
	baseRule       = structureRule{"btrfs/base-block", "A metadata block of the last commit stays intact until the next commit is on the disk."}
	liveDataRule   = structureRule{"btrfs/base-data", "Data that the last commit has a checksum for keeps its contents until the next commit is on the disk."}
	logBlockRule   = structureRule{"btrfs/log-block", "A metadata block of the last log commit stays intact until the next commit or log commit is on the disk."}
	directionRule  = structureRule{"btrfs/misdirected", "A metadata block is written where the address in its header says."}
	flushRule      = structureRule{"btrfs/flush", "What a superblock leads to has been flushed before the superblock is written."}
	refusedRule    = structureRule{"btrfs/refused-copy", "A copy of the superblock of a refused commit does not reach the disk either."}
)

// structureRules lists all, for tests and documents.
var structureRules = []structureRule{superRule, csumTypeRule, csumRule, headerRule, levelRule, ownerRule, generationRule, nritemsRule,
	keyOrderRule, parentKeyRule, itemBoundsRule, pointerRule, copiesRule, twiceRule, chunkRule, rootRule, itemTypeRule,
	itemRule, overlapRule, uniqueRule, baseRule, refusedRule, liveDataRule, logBlockRule, directionRule, flushRule}

// thesisOrigins says which of the thesis's properties are checks of structure here.
var thesisOrigins = map[structureRule]string{
	nritemsRule:    "thesis, table 4.1 (1), of leaves as well; btrfs_check_node and __btrfs_check_leaf",
	keyOrderRule:   "thesis, table 4.1 (2), of leaves and from block to block as well; btrfs_check_node and __btrfs_check_leaf",
	parentKeyRule:  "thesis, table 4.1 (3); btrfs_verify_level_key",
	directionRule:  "thesis, table 4.1 (4), at the write; btrfs/header at each reading, as btrfs_validate_extent_buffer",
	generationRule: "thesis, table 4.1 (5); btrfs_validate_extent_buffer",
	csumTypeRule: "thesis, table 5.2 (19), where it is zero: Linux had crc32c alone. Since 5.5 it has four, of which mkfs chooses one; " +
		"btrfs_supported_super_csum",
}

// Checks describes what is checked of each block and of each write before any rule runs.
func Checks() []interp.Check {
	var list []interp.Check
	for _, r := range structureRules {
		list = append(list, interp.Check{Name: r.name, Doc: r.doc, Origin: thesisOrigins[r]})
	}
	return list
}

// A structureError is a violation of structure on its way up.
type structureError struct{ v change.Violation }

func (e *structureError) Error() string {
	if e.v.HasAddr {
		return fmt.Sprintf("%s at device address %s: %s", e.v.Rule, addressText(e.v.Addr), e.v.Detail)
	}
	return e.v.Rule + ": " + e.v.Detail
}

// violatedAt makes the error of a rule that does not hold at a device address.
func violatedAt(r structureRule, addr uint64, format string, args ...any) *structureError {
	e := violated(r, format, args...)
	e.v.Addr, e.v.HasAddr = addr, true
	return e
}

// violated is violatedAt where no address is known.
func violated(r structureRule, format string, args ...any) *structureError {
	return &structureError{change.Violation{Rule: r.name, Kind: change.ByStructure, Doc: r.doc, Detail: fmt.Sprintf(format, args...)}}
}

// onWrite says of an error that it is about a single write, and not about what the file system
// consists of.
func onWrite(e *structureError) *structureError {
	e.v.Kind = change.ByWrite
	return e
}

// in names the tree and key at which an error was found, if it does not name any yet.
func (e *structureError) in(tree uint64, k ondisk.Key) *structureError {
	if e.v.Tree == "" {
		e.v.Tree, e.v.ID = change.NumText(tree), k.String()
	}
	return e
}
