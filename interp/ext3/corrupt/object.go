package corrupt

import (
	"slices"
	"strings"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// An alterable is a kind of object that can be altered.
type alterable struct {
	name    string
	members []ondisk.Field
	actions []string
	kinds   []string // values of the condition @kind=
}

// unsealed reports whether a field is a checksum of the journal. An alteration of such a field
// updates no checksum.
func unsealed(c ondisk.Field) bool {
	return c.Big() && c.Name == "checksum" || strings.HasPrefix(c.Name, "chksum")
}

// The names of objects.
const (
	objSuper       = "superblock"
	objGroup       = "group"
	objInode       = "inode"
	objPointer     = "pointer"
	objDirent      = "dirent"
	objIndex       = "index"
	objIndexEntry  = "index_entry"
	objLinkName    = "link_name"
	objXattr       = "xattr_block"
	objXattrEntry  = "xattr_entry"
	objBlockBitmap = "block_bitmap"
	objInodeBitmap = "inode_bitmap"
	objJournal     = "journal_superblock"
	objDescriptor  = "journal_descriptor"
	objTag         = "journal_tag"
	objCommit      = "journal_commit"
	objRevoke      = "journal_revoke"
	objRevoked     = "revoke_record"
)

// alterables lists every object, in the order of the matrix.
var alterables = []alterable{
	{name: objSuper, members: ondisk.SuperLayout.Fields},
	{name: objGroup, members: ondisk.GroupLayout.Fields, actions: []string{actSwap}},
	{name: objInode, members: slices.Concat(ondisk.InodeLayout.Fields, ondisk.InodeLargeLayout.Fields),
		actions: []string{actClear, actFree, actCopy, actSwap, actCrossLink},
		kinds: []string{"root", "journal", "resize", "reserved", "directory", "indexed", "file",
			"fast_link", "slow_link", "device", "fifo", "socket", "orphan", "free"}},
	{name: objPointer, members: ondisk.PointerLayout.Fields, actions: []string{actCrossLink, actSwap},
		kinds: []string{"single", "double", "triple"}},
	{name: objDirent, members: ondisk.DirentLayout.Fields, actions: []string{actDelete, actDuplicate,
		actAdd, actSwap, actMove, actCycle},
		kinds: []string{"dot", "dotdot", "root", "linear", "indexed", "unused"}},
	{name: objIndex, members: ondisk.IndexLayout.Fields, kinds: []string{"root", "node"}},
	{name: objIndexEntry, members: ondisk.IndexEntryLayout.Fields, actions: []string{actDelete,
		actDuplicate, actSwap}, kinds: []string{"root", "node"}},
	{name: objLinkName, members: ondisk.LinkNameLayout.Fields},
	{name: objXattr, members: ondisk.XattrLayout.Fields},
	{name: objXattrEntry, members: ondisk.XattrEntryLayout.Fields, actions: []string{actDelete,
		actDuplicate, actSwap}, kinds: []string{"block", "inode"}},
	{name: objBlockBitmap, actions: []string{actSet, actUnset, actSetFreed, actUnsetNew},
		kinds: blockUses},
	{name: objInodeBitmap, actions: []string{actSet, actUnset, actSetFreed, actUnsetNew},
		kinds: []string{"reserved", "used", "orphan", "free", "padding"}},
	{name: objJournal, members: ondisk.JournalSuperLayout.Fields},
	{name: objDescriptor, members: ondisk.JournalHeaderLayout.Fields},
	{name: objTag, members: ondisk.TagLayout.Fields, actions: []string{actSwap, actDuplicate}},
	{name: objCommit, members: ondisk.CommitLayout.Fields},
	{name: objRevoke, members: ondisk.RevokeLayout.Fields},
	{name: objRevoked, members: ondisk.RevokedLayout.Fields, actions: []string{actDelete, actAdd}},
}

// blockUses are the uses of a block with a bit in a block bitmap. padding stands for the bits after
// the last block.
var blockUses = []string{"superblock", "descriptors", "bitmap", "inode_table", "journal", "resize",
	"directory", "indirect", "xattr", "data", "free", "padding"}

func findAlterable(name string) *alterable {
	for i := range alterables {
		if alterables[i].name == name {
			return &alterables[i]
		}
	}
	return nil
}

func (a *alterable) fieldNames() (names []string) {
	for _, m := range a.members {
		names = append(names, m.Name)
	}
	return names
}

// Alterables lists the objects that can be altered, with their fields and actions.
func Alterables() (list []interp.Alterable) {
	for i := range alterables {
		a := &alterables[i]
		out := interp.Alterable{Object: a.name, Actions: a.actions, Kinds: a.kinds}
		for _, m := range a.members {
			out.Fields = append(out.Fields, interp.AlterableField{Name: m.Name, Width: m.Width()})
		}
		list = append(list, out)
	}
	return list
}

// objectNames lists the objects that can be altered.
func objectNames() (names []string) {
	for i := range alterables {
		names = append(names, alterables[i].name)
	}
	return names
}
