package ext3

import (
	"cmp"
	"maps"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// Inodes that are to be deleted or truncated are on a list: the superblock names the first, and
// i_dtime of each names the next (ext4_orphan_add). After a crash the file system finishes deleting
// or truncating them.

// An OrphanList is the list of orphans. A guest can keep hundreds of thousands of deleted files
// open. So the cost of a change to the list must not depend on the length of the list.
type OrphanList struct {
	head, tail uint32
	nodes      map[uint32]orphanNode
	fault      string // why it ends early, "" if it does not
}

// An orphanNode is an inode on the list. place increases along the list.
type orphanNode struct {
	prev, next uint32
	place      int64
}

func (o *OrphanList) Has(ino uint32) bool {
	if o == nil {
		return false
	}
	_, ok := o.nodes[ino]
	return ok
}

// An orphanRun is a part of the new list: inodes that follow each other in the old list as well, or
// a single inode that is new.
type orphanRun struct {
	first, last uint32
	came        bool
}

// orphanBytes is the memory that an entry of an orphanDiff takes, bytes.
const orphanBytes = 40

// An orphanDiff is the difference between two states of the list.
type orphanDiff struct {
	runs       []orphanRun // the new list
	came, gone map[uint32]bool
	fault      string
}

// diff compares the list with the one in a state. inodes are those that may differ. The result is
// nil if the lists are the same.
func (o *OrphanList) diff(s Snapshot, inodes *numberSet) (*orphanDiff, error) {
	sb, err := s.super()
	if err != nil {
		return nil, err
	}
	breaks, err := o.breaks(s, inodes)
	if err != nil {
		return nil, err
	}
	at := ondisk.SuperOf(sb).LastOrphan()
	if at == o.head && len(breaks) == 0 {
		return nil, nil
	}
	d := &orphanDiff{came: make(map[uint32]bool), gone: make(map[uint32]bool)}
	turned := make(map[uint32]bool)
	for at != 0 && d.fault == "" {
		last := at
		node, old := o.nodes[at]
		if old {
			n, _ := slices.BinarySearchFunc(breaks, node.place, func(ino uint32, place int64) int {
				return cmp.Compare(o.nodes[ino].place, place)
			})
			if n == len(breaks) {
				d.runs = append(d.runs, orphanRun{first: at, last: o.tail})
				d.fault = o.fault
				break
			}
			last = breaks[n]
		}
		switch {
		case at < s.Geo.FirstIno || at > s.Geo.Inodes:
			d.fault = "the list names inode " + change.NumText(uint64(at))
			continue
		case d.came[at] || turned[last]: // a part has one end
			d.fault = "the list comes back to inode " + change.NumText(uint64(at))
			continue
		case old:
			turned[last] = true
		default:
			d.came[at] = true
		}
		d.runs = append(d.runs, orphanRun{first: at, last: last, came: !old})
		i, err := s.Inode(last)
		if err != nil {
			return nil, err
		}
		at = i.Dtime()
	}
	d.missing(o)
	return d, nil
}

// breaks returns the inodes of the list, in its order, that have another successor in a state: a
// part of the old list ends there. inodes are the inodes that may differ.
func (o *OrphanList) breaks(s Snapshot, inodes *numberSet) (breaks []uint32, err error) {
	for ino := range inodes.all() {
		if !o.Has(ino) {
			continue
		}
		i, err := s.Inode(ino)
		if err != nil {
			return nil, err
		}
		if i.Dtime() != o.nodes[ino].next {
			breaks = append(breaks, ino)
		}
	}
	slices.SortFunc(breaks, func(a, b uint32) int {
		return cmp.Compare(o.nodes[a].place, o.nodes[b].place)
	})
	return breaks, nil
}

// missing finds the inodes of the old list that are in no part of the new one.
func (d *orphanDiff) missing(o *OrphanList) {
	kept := slices.DeleteFunc(slices.Clone(d.runs), func(r orphanRun) bool { return r.came })
	slices.SortFunc(kept, func(a, b orphanRun) int {
		return cmp.Compare(o.nodes[a.first].place,
			o.nodes[b.first].place)
	})
	for at, end := o.head, false; !end && len(o.nodes) > 0; {
		if len(kept) > 0 && at == kept[0].first {
			at, kept = kept[0].last, kept[1:]
		} else {
			d.gone[at] = true
		}
		end = at == o.tail
		at = o.nodes[at].next
	}
}

// apply applies a diff to the list. Linux adds inodes in front and removes them anywhere; a list in
// any other order is rebuilt.
func (o *OrphanList) apply(d *orphanDiff) {
	first := slices.IndexFunc(d.runs, func(r orphanRun) bool { return !r.came })
	if first < 0 {
		first = len(d.runs)
	}
	inOrder := true
	for k := first; k < len(d.runs); k++ {
		r := d.runs[k]
		inOrder = inOrder && !r.came && (k == first ||
			o.nodes[d.runs[k-1].last].place < o.nodes[r.first].place)
	}
	if !inOrder {
		o.rebuild(d)
		return
	}
	for ino := range d.gone {
		delete(o.nodes, ino)
	}
	place := int64(0)
	if first < len(d.runs) {
		place = o.nodes[d.runs[first].first].place
	}
	for k, r := range d.runs {
		node := o.nodes[r.first]
		if r.came {
			node.place = place - int64(first-k)
		}
		node.prev = 0
		if k > 0 {
			node.prev = d.runs[k-1].last
		}
		o.nodes[r.first] = node
	}
	o.join(d)
}

// rebuild is apply for a list whose order changed.
func (o *OrphanList) rebuild(d *orphanDiff) {
	was := o.nodes
	o.nodes = make(map[uint32]orphanNode, len(was)+len(d.came))
	prev := uint32(0)
	for _, r := range d.runs {
		for at := r.first; ; at = was[at].next {
			o.nodes[at] = orphanNode{prev, was[at].next, int64(len(o.nodes))}
			if prev = at; at == r.last {
				break
			}
		}
	}
	o.join(d)
}

// join links the last inode of each part to the first of the next part.
func (o *OrphanList) join(d *orphanDiff) {
	o.head, o.tail, o.fault = 0, 0, d.fault
	for k, r := range d.runs {
		if k == 0 {
			o.head = r.first
		}
		node := o.nodes[r.last]
		node.next, o.tail = 0, r.last
		if k+1 < len(d.runs) {
			node.next = d.runs[k+1].first
		}
		o.nodes[r.last] = node
	}
}

// readOrphans reads the list in a state. It reads a damaged list up to the damage.
func (s Snapshot) readOrphans() (*OrphanList, error) {
	o := &OrphanList{nodes: make(map[uint32]orphanNode)}
	d, err := o.diff(s, &numberSet{})
	if err != nil || d == nil {
		return o, err
	}
	o.apply(d)
	return o, nil
}

// An orphanChange is the list of orphans before a transaction, and the change by the transaction.
type orphanChange struct {
	was  *OrphanList // nil: in an image
	diff *orphanDiff // nil: the list stays the same
}

// compare compares the list with the one in a state. inodes are those that may differ.
func (c *orphanChange) compare(now Snapshot, inodes *numberSet) (*change.Violation, error) {
	diff, err := c.was.diff(now, inodes)
	if err != nil || diff == nil {
		return nil, err
	}
	c.diff = diff
	if diff.fault == "" {
		return nil, nil
	}
	v := on(checkOrphans.at(ondisk.SuperOff+ondisk.SuperLastOrphanAt, "%s", diff.fault),
		ondisk.KindSuperblock, 0)
	return &v, nil
}

// bytes returns the memory of the difference.
func (c *orphanChange) bytes() uint64 {
	if c.diff == nil {
		return 0
	}
	return uint64(len(c.diff.runs)+len(c.diff.came)+len(c.diff.gone)) * orphanBytes
}

// changed returns, in order, the inodes that came to the list, and those that left it.
func (c *orphanChange) changed() (came, gone []uint32) {
	if c.diff == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(c.diff.came)), slices.Sorted(maps.Keys(c.diff.gone))
}

// orphanRecords makes the record of an inode that came to the list or left it, and none of another.
func (d *compared) orphanRecords(ino uint32) {
	o := change.Object{Kind: ondisk.KindOrphan, ID: uint64(ino)}
	switch diff := d.orphans.diff; {
	case diff == nil:
	case diff.came[ino]:
		d.txn.Add(o)
	case diff.gone[ino]:
		d.txn.Delete(o)
	}
}

// has reports whether an inode is on the list after the transaction.
func (c *orphanChange) has(ino uint32) bool {
	if c.diff != nil && (c.diff.came[ino] || c.diff.gone[ino]) {
		return c.diff.came[ino]
	}
	return c.was.Has(ino)
}
