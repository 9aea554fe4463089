package btrfs

import (
	"bytes"
	"errors"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// An itemRef is an item in a leaf.
type itemRef struct {
	leaf *ondisk.Node
	i    int
}

func (r *itemRef) key() ondisk.Key   { return r.leaf.Key(r.i) }
func (r *itemRef) data() disk.Region { return r.leaf.Item(r.i) }

// same reports whether two items with one key hold the same objects. The back reference of a file
// extent names the owner of its leaf.
func (r *itemRef) same(o *itemRef) bool {
	return bytes.Equal(r.data().Bytes(), o.data().Bytes()) &&
		(r.leaf.Owner() == o.leaf.Owner() || r.key().Type != ondisk.ExtentDataKey)
}

// used returns the number of bytes in use in a block group, read from its item. It returns 0 for a
// nil or malformed item.
func (r *itemRef) used() uint64 {
	if r == nil {
		return 0
	}
	group, ok := ondisk.ViewBlockGroup(r.data())
	if !ok || group.Len() > ondisk.BlockGroupSize {
		return 0
	}
	return group.Used()
}

// A keyInterval is the keys [from, end). Without hasEnd it has no upper bound.
type keyInterval struct {
	from, end ondisk.Key
	hasEnd    bool
}

// A leaf is the place of a leaf of a tree, and the first key that its parent names.
type leaf struct {
	pointer
	first ondisk.Key // zero for a root
}

// A cursor iterates over the items of a list of leaves whose keys lie in an interval. It holds one
// leaf at a time.
type cursor struct {
	state  *state
	leaves []leaf
	keys   keyInterval
	at     itemRef
	done   bool
}

// start moves the cursor to the first item.
func (c *cursor) start() error {
	c.at.i = -1
	if err := c.next(); err != nil || c.done {
		return err
	}
	i, _ := c.at.leaf.Search(c.keys.from)
	c.at.i = i - 1
	return c.next()
}

// next moves the cursor to the next item. It sets done after the last one.
func (c *cursor) next() error {
	c.at.i++
	for c.at.leaf == nil || c.at.i >= c.at.leaf.NrItems() {
		if len(c.leaves) == 0 {
			c.done = true
			return nil
		}
		n, err := c.state.node(c.leaves[0].pointer, false)
		if err != nil {
			return err
		}
		c.leaves, c.at = c.leaves[1:], itemRef{n, 0}
	}
	c.done = c.keys.hasEnd && c.at.key().Compare(c.keys.end) >= 0
	return nil
}

// treeLeaves are the leaves of a tree that only one of two versions has, in the order of keys.
type treeLeaves struct {
	tree     uint64
	from     *state // of the older version; nil if there is none
	new, old []leaf
}

// leaves returns the leaves in which the trees differ.
func (t *treeDiff) leaves() *treeLeaves {
	l := &treeLeaves{tree: t.tree, new: make([]leaf, 0, len(t.spans)), old: t.oldLeaves}
	if t.version != nil {
		l.from = t.version.state
	}
	for i := range t.spans {
		if s := &t.spans[i]; !s.shared {
			l.new = append(l.new, leaf{s.pointer, s.first})
		}
	}
	return l
}

// A visitItem function takes an item that differs between two trees. The side that does not have
// the item is nil.
type visitItem func(k ondisk.Key, old, now *itemRef) error

// merge visits, in the order of keys, each item of an interval that only one of the states has or
// that differs. to is the state of the newer version.
func (l *treeLeaves) merge(to *state, keys keyInterval, visit visitItem) error {
	now := cursor{state: to, leaves: l.new, keys: keys}
	old := cursor{state: l.from, leaves: l.old, keys: keys}
	if err := errors.Join(now.start(), old.start()); err != nil {
		return err
	}
	for !now.done || !old.done {
		var c int
		switch {
		case now.done:
			c = 1
		case old.done:
			c = -1
		default:
			c = now.at.key().Compare(old.at.key())
		}
		var err error
		switch {
		case c < 0:
			err = visit(now.at.key(), nil, &now.at)
		case c > 0:
			err = visit(old.at.key(), &old.at, nil)
		case !now.at.same(&old.at):
			err = visit(now.at.key(), &old.at, &now.at)
		}
		if err != nil {
			return err
		}
		if c <= 0 {
			if err := now.next(); err != nil {
				return err
			}
		}
		if c >= 0 {
			if err := old.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// mergeTree turns the difference of a tree into records. If also is not nil, mergeTree calls it for
// each differing item.
func (d *diff) mergeTree(t *treeDiff, also func(k ondisk.Key, old, now *itemRef)) {
	if d.failedHard() {
		return
	}
	d.out.begin(t.tree)
	// Most items that both trees have are the same.
	d.out.reserve(max(t.newRecords-t.oldRecords, t.oldRecords-t.newRecords))
	l := t.leaves()
	d.kept.keep(l)
	if also == nil && t.large() && d.mergeHalves(t, l) {
		return
	}
	d.record(l, keyInterval{}, also)
}

// record turns the items of an interval of keys that differ into records.
func (d *diff) record(
	l *treeLeaves, keys keyInterval, also func(k ondisk.Key, old, now *itemRef),
) {
	err := l.merge(d.new, keys, func(k ondisk.Key, old, now *itemRef) error {
		if also != nil {
			also(k, old, now)
		}
		if k.Type == ondisk.BlockGroupItemKey {
			d.used += now.used() - old.used()
		}
		if err := d.out.item(k, old, now); err != nil {
			d.fault(err)
		}
		if d.failedHard() {
			return d.unknown
		}
		return nil
	})
	if err == nil {
		err = d.out.flush()
	}
	if err != nil {
		d.fault(err)
	}
}
