package ext3

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"fsward/interp"
)

// Roles holds the role of every directory block, indirect block and extended attribute block. A
// journaled block without a role is file data, and is not interpreted. A file system can have
// millions of them, so that they lie in sorted pages and take 12 to 15 bytes each.
type Roles struct {
	pages   map[uint32][]roleEntry // by number of the block divided by rolePageBlocks; none is empty
	n       int
	entries int // capacity of all pages
}

// rolePageBlocks is the number of blocks of a page. In a file system full of large files, 32 of
// them are indirect blocks.
const rolePageBlocks = 1 << 15

// A roleEntry is a Role with the number of its block in the page. It takes 12 bytes.
type roleEntry struct {
	ino, start uint32
	off        uint16
	level      uint8
}

const (
	roleEntryBytes = 12
	rolePageBytes  = 80 // of a page: its entry in the map, and what the allocator rounds up
	// changedRoleBytes is the memory of a role in a map of a commit's changes, bytes.
	changedRoleBytes = 48
)

// NewRoles returns an empty set of roles.
func NewRoles() *Roles { return &Roles{pages: make(map[uint32][]roleEntry)} }

func (e roleEntry) role() Role { return Role{e.ino, e.level, e.start} }

// find returns the page of a block, and where its entry is or would be.
func (r *Roles) find(block uint32) (page []roleEntry, at int, ok bool) {
	page = r.pages[block/rolePageBlocks]
	at, ok = slices.BinarySearchFunc(page, uint16(block%rolePageBlocks),
		func(e roleEntry, off uint16) int { return cmp.Compare(e.off, off) })
	return page, at, ok
}

// Get returns the role of a block; ok is false if it has none. A nil Roles has none.
func (r *Roles) Get(block uint32) (role Role, ok bool) {
	if r == nil {
		return role, false
	}
	page, at, ok := r.find(block)
	if !ok {
		return role, false
	}
	return page[at].role(), true
}

// set gives a role to a block. Blocks are best given in order.
func (r *Roles) set(block uint32, role Role) {
	e := roleEntry{role.Ino, role.Start, uint16(block % rolePageBlocks), role.Level}
	page, at, ok := r.find(block)
	if ok {
		page[at] = e
		return
	}
	if had := cap(page); len(page) == had {
		page = append(make([]roleEntry, 0, had+max(4, had/8)), page...)
		r.entries += cap(page) - had
	}
	r.pages[block/rolePageBlocks] = slices.Insert(page, at, e)
	r.n++
}

// delete takes the role of a block.
func (r *Roles) delete(block uint32) {
	page, at, ok := r.find(block)
	if !ok {
		return
	}
	r.n--
	if len(page) == 1 {
		r.entries -= cap(page)
		delete(r.pages, block/rolePageBlocks)
		return
	}
	r.pages[block/rolePageBlocks] = slices.Delete(page, at, at+1)
}

// Len returns the number of blocks with a role.
func (r *Roles) Len() int { return r.n }

// All yields the blocks with their roles, in order.
func (r *Roles) All() iter.Seq2[uint32, Role] {
	return func(yield func(uint32, Role) bool) {
		for _, at := range slices.Sorted(maps.Keys(r.pages)) {
			for _, e := range r.pages[at] {
				if !yield(at*rolePageBlocks+uint32(e.off), e.role()) {
					return
				}
			}
		}
	}
}

// bytes returns the memory of the roles.
func (r *Roles) bytes() uint64 {
	return uint64(r.entries)*roleEntryBytes + uint64(len(r.pages))*rolePageBytes
}

// check returns an error if n more roles would take more memory than most. 0 means no maximum.
func (r *Roles) check(n int, most uint64) error {
	if most > 0 && r.bytes()+uint64(n)*roleEntryBytes > most {
		return &interp.UnsupportedError{FS: schema.FS,
			Feature: fmt.Sprintf("more than %d directory blocks and indirect blocks"+
				" within its limit of memory", r.n)}
	}
	return nil
}
