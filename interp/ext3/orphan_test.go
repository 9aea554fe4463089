package ext3

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// chain is a file system whose list of orphans can be set.
type chain struct {
	t testing.TB
	d *MemDisk
	m *Mounted
}

func newChain(t testing.TB, inodes string) *chain {
	d := OpenImage(t, Mkfs(t, "64M", "-N", inodes))
	m, err := Mount(d, d.Size())
	if err != nil {
		t.Fatal(err)
	}
	if m.Orphans, err = m.readOrphans(); err != nil {
		t.Fatal(err)
	}
	return &chain{t, d, m}
}

func (c *chain) point(off uint64, ino uint32) {
	b := make([]byte, 4)
	put32(b, 0, ino)
	c.d.Apply(interp.Write{Off: off, Len: 4, Data: b})
	c.m.State.forget()
}

func (c *chain) head(ino uint32) { c.point(ondisk.SuperOff+ondisk.SuperLastOrphanAt, ino) }

func (c *chain) next(ino, then uint32) {
	c.point(c.m.Layout.inodeAddr(ino)+ondisk.InodeDtimeAt,
		then)
}

// step compares the followed list with the list before and with the list that a new reader finds.
func (c *chain) step(changed map[uint32]bool) *orphanDiff {
	c.t.Helper()
	diff, err := c.m.Orphans.diff(c.m.Snapshot, numbersOf(changed))
	if err != nil {
		c.t.Fatal(err)
	}
	was := c.m.Orphans.inodes()
	if diff != nil && diff.fault == "" {
		c.m.Orphans.apply(diff)
	}
	reread, err := c.m.readOrphans()
	if err != nil {
		c.t.Fatal(err)
	}
	if diff != nil && diff.fault != "" {
		return diff
	}
	now := c.m.Orphans.inodes()
	if d := cmp.Diff(reread.inodes(), now); d != "" || c.m.Orphans.tail != reread.tail ||
		len(now) != len(c.m.Orphans.nodes) {
		c.t.Fatalf("-new reader +followed:\n%s", d)
	}
	for ino := range uint32(1000) {
		had, has := slices.Contains(was, ino), slices.Contains(now, ino)
		if diff != nil && (diff.came[ino] != (has && !had) || diff.gone[ino] != (had && !has)) {
			c.t.Fatalf("inode %d: on the list before %v, after %v, came %v, gone %v", ino, had, has,
				diff.came[ino], diff.gone[ino])
		}
	}
	return diff
}

// inodes returns the inodes on the list in order, and checks the links backward and forward.
func (o *OrphanList) inodes() (list []uint32) {
	for at := o.head; at != 0; at = o.nodes[at].next {
		list = append(list, at)
	}
	var back []uint32
	for at := o.tail; at != 0; at = o.nodes[at].prev {
		back = append(back, at)
	}
	slices.Reverse(back)
	if !slices.Equal(list, back) {
		return nil
	}
	for k := 1; k < len(list); k++ {
		if o.nodes[list[k-1]].place >= o.nodes[list[k]].place {
			return nil
		}
	}
	return list
}

// TestOrphansAtRandom changes lists at random, as Linux does and in other ways. The followed list
// equals the list that a new reader finds.
func TestOrphansAtRandom(t *testing.T) {
	c := newChain(t, "1000")
	r := rand.New(rand.NewPCG(1, 2))
	var list []uint32
	kinds := make(map[int]int)
	for range 3000 {
		kind := r.IntN(12)
		changed := make(map[uint32]bool)
		before := slices.Clone(list)
		switch fresh := uint32(20 + r.IntN(900)); {
		case kind < 5 && !slices.Contains(list, fresh):
			list = slices.Insert(list, 0, fresh)
		case kind < 9 && len(list) > 0:
			for range 1 + r.IntN(3) {
				if len(list) > 0 {
					k := r.IntN(len(list))
					list = slices.Delete(list, k, k+1)
				}
			}
		case kind == 9 && !slices.Contains(list, fresh):
			list = slices.Insert(list, r.IntN(len(list)+1), fresh)
		case kind == 10 && len(list) > 1:
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case kind == 11:
			list = slices.Clone(list[:len(list)/2])
		}
		kinds[kind]++
		then := func(l []uint32, k int) uint32 {
			if k < len(l) {
				return l[k]
			}
			return 0
		}
		c.head(then(list, 0))
		for k, ino := range list {
			if was := slices.Index(before, ino); was < 0 || then(before, was+1) != then(list, k+1) {
				c.next(ino, then(list, k+1))
				changed[ino] = true
			}
		}
		c.step(changed)
	}
	if len(kinds) < 12 {
		t.Errorf("%v", kinds)
	}
}

// TestOrphanFaults checks that a list with a loop, or with an inode that does not exist, is a
// violation, whichever part of it is new.
func TestOrphanFaults(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(c *chain)
		changed []uint32
		want    string
	}{
		{"to a reserved inode", func(c *chain) { c.next(30, 3) }, []uint32{30}, "the list names inode 3"},
		{"beyond the last inode", func(c *chain) { c.head(100000) }, nil, "the list names inode 100000"},
		{"the last to the first", func(c *chain) { c.next(33, 30) }, []uint32{33},
			"the list comes back to inode 30"},
		{"the last to one in the middle", func(c *chain) { c.next(33, 32) }, []uint32{33},
			"the list comes back to inode 32"},
		{"to itself", func(c *chain) { c.next(31, 31) }, []uint32{31}, "the list comes back to inode 31"},
		{"a new one to itself", func(c *chain) { c.head(40); c.next(40, 40) }, []uint32{40},
			"the list comes back to inode 40"},
		{"backward to an earlier part of a piece", func(c *chain) { c.head(32); c.next(33, 31) },
			[]uint32{33}, "the list comes back to inode 31"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newChain(t, "1000")
			c.head(30)
			c.next(30, 31)
			c.next(31, 32)
			c.next(32, 33)
			c.step(map[uint32]bool{30: true, 31: true, 32: true, 33: true})
			tc.change(c)
			changed := make(map[uint32]bool)
			for _, ino := range tc.changed {
				changed[ino] = true
			}
			if d := c.step(changed); d == nil || d.fault != tc.want {
				t.Errorf("%+v, want %q", d, tc.want)
			}
		})
	}
}

// TestLongOrphanList checks that on a list of 60,000 inodes, an addition in front and a removal
// from the middle are followed without reading the other inodes.
func TestLongOrphanList(t *testing.T) {
	c := newChain(t, "62000")
	const first, last = 100, 60100
	c.head(first)
	for ino := uint32(first); ino < last; ino++ {
		b := make([]byte, 4)
		put32(b, 0, ino+1)
		c.d.Apply(interp.Write{Off: c.m.Layout.inodeAddr(ino) + ondisk.InodeDtimeAt, Len: 4, Data: b})
	}
	c.m.State.forget()
	var err error
	if c.m.Orphans, err = c.m.readOrphans(); err != nil || len(c.m.Orphans.nodes) != last-first+1 {
		t.Fatalf("%d inodes: %v", len(c.m.Orphans.nodes), err)
	}
	c.next(99, first)
	c.head(99)
	c.next(30000, 30002)
	diff, err := c.m.Orphans.diff(c.m.Snapshot, numbersOf(map[uint32]bool{99: true, 30000: true,
		30001: true}))
	if err != nil || diff.fault != "" || len(diff.came) != 1 || !diff.came[99] ||
		len(diff.gone) != 1 || !diff.gone[30001] {
		t.Fatalf("%+v: %v", diff, err)
	}
	if n := len(c.m.State.cache); n > 4 {
		t.Errorf("%d blocks were read", n)
	}
	c.m.Orphans.apply(diff)
	reread, err := c.m.readOrphans()
	if err != nil || !slices.Equal(reread.inodes(), c.m.Orphans.inodes()) {
		t.Errorf("the list differs from that of a new reader: %v", err)
	}
}
