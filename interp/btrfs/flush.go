package btrfs

import (
	"cmp"
	"slices"
	"sort"

	"fsward/interp/btrfs/ondisk"
)

// maxUnflushed bounds the writes that are remembered as not durable. A guest that writes more
// between two flushes is held to the newest of them.
const maxUnflushed = 1 << 16

// unflushed remembers which writes of metadata are not durable yet. Btrfs flushes every device
// before it writes a superblock (barrier_all_devices): one that leads to a block that was never
// flushed would, after a loss of power, lead to whatever stood there before.
type unflushed struct {
	writes []sequencedWrite // in the order in which they came
	seen   bool             // the guest has flushed at least once since it is watched
}

// A numbered is a range of the device and the number of the write that filled it
// (interp.Write.Seq).
type sequencedWrite struct{ addr, n, seq uint64 }

// add notes a write that is on the device. Neighbours are not joined: a flush may cover only one of
// them.
func (u *unflushed) add(addr, n, seq uint64) {
	if len(u.writes) >= maxUnflushed {
		u.writes = slices.Delete(u.writes, 0, maxUnflushed/2)
	}
	u.writes = append(u.writes, sequencedWrite{addr, n, seq})
}

// flushed forgets the writes to the addresses [from, to) up to a number.
func (u *unflushed) flushed(from, to, seq uint64) {
	u.seen = true
	u.writes = slices.DeleteFunc(u.writes, func(w sequencedWrite) bool {
		return w.seq <= seq && w.addr >= from && w.addr < to
	})
}

// A stretch is a range of device addresses.
type addrRange struct{ addr, n uint64 }

// stretches returns what is not durable, in the order of addresses and without overlap.
func (u *unflushed) ranges() []addrRange {
	if !u.seen {
		return nil // the guest does not flush at all: nothing can be said of its order
	}
	all := make([]addrRange, 0, len(u.writes))
	for _, w := range u.writes {
		all = append(all, addrRange{w.addr, w.n})
	}
	slices.SortFunc(all, func(a, b addrRange) int {
		return cmp.Compare(a.addr, b.addr)
	})
	out := all[:0]
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && s.addr <= out[last].addr+out[last].n {
			out[last].n = max(out[last].n, s.addr+s.n-out[last].addr)
			continue
		}
		out = append(out, s)
	}
	return out
}

// touches reports whether part of [addr, addr+n) is in a list that stretches made.
func touches(list []addrRange, addr, n uint64) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].addr+list[i].n > addr })
	return i < len(list) && overlap(list[i].addr, list[i].n, addr, n)
}

// checkFlushed holds a block that a new superblock leads to against the flushes of the guest.
func (d *diff) checkFlushed(n *ondisk.Node) error {
	if len(d.unflushed) == 0 {
		return nil
	}
	addrs, count, err := d.new.chunks.copies(n.Logical(), uint64(d.new.rules.nodeSize), ondisk.GroupMetadata|ondisk.GroupSystem)
	if err != nil {
		return err
	}
	for _, addr := range addrs[:count] {
		if touches(d.unflushed, addr, uint64(d.new.rules.nodeSize)) {
			return onWrite(violatedAt(flushRule, addr, "block %d was written and not flushed before the superblock that leads to it", n.Logical()))
		}
	}
	return nil
}
