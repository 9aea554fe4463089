package btrfs

import (
	"cmp"
	"slices"
	"sort"

	"fsward/interp/btrfs/ondisk"
)

// maxUnflushed bounds the writes in unflushed. If a guest writes more between two flushes, only the
// newest writes are checked.
const maxUnflushed = 1 << 16

// unflushed is the list of metadata writes that are not durable yet. Btrfs flushes every device
// before it writes a superblock (barrier_all_devices). Without that flush, a superblock could lead
// to the old contents of a block after a power failure.
type unflushed struct {
	writes []sequencedWrite // in the order of arrival
	seen   bool             // the guest has flushed at least once since fsward attached
}

// A sequencedWrite is a range of device addresses and the number of the write that filled it
// (interp.Write.Seq).
type sequencedWrite struct{ addr, n, seq uint64 }

// add notes a write that has landed. It does not join neighbors: a flush may cover only one of
// them.
func (u *unflushed) add(addr, n, seq uint64) {
	if len(u.writes) >= maxUnflushed {
		u.writes = slices.Delete(u.writes, 0, maxUnflushed/2)
	}
	u.writes = append(u.writes, sequencedWrite{addr, n, seq})
}

// flushed removes the writes to the addresses [from, to) with numbers up to seq.
func (u *unflushed) flushed(from, to, seq uint64) {
	u.seen = true
	u.writes = slices.DeleteFunc(u.writes, func(w sequencedWrite) bool {
		return w.seq <= seq && w.addr >= from && w.addr < to
	})
}

// An addrRange is a range of device addresses.
type addrRange struct{ addr, n uint64 }

// ranges returns the ranges that are not durable, sorted by address and without overlap. It returns
// nil for a guest that never flushes.
func (u *unflushed) ranges() []addrRange {
	if !u.seen {
		return nil // without flushes, nothing is known about the order of writes
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

// touches reports whether [addr, addr+n) shares a byte with a list from ranges.
func touches(list []addrRange, addr, n uint64) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].addr+list[i].n > addr })
	return i < len(list) && overlap(list[i].addr, list[i].n, addr, n)
}

// checkFlushed checks that a block was flushed before the superblock that leads to it.
func (d *diff) checkFlushed(n *ondisk.Node) error {
	if len(d.unflushed) == 0 {
		return nil
	}
	const types = ondisk.GroupMetadata | ondisk.GroupSystem
	size := uint64(d.new.rules.nodeSize)
	addrs, count, err := d.new.chunks.copies(n.Logical(), size, types)
	if err != nil {
		return err
	}
	for _, addr := range addrs[:count] {
		if touches(d.unflushed, addr, size) {
			return onWrite(violatedAt(flushRule, addr,
				"block %d was written and not flushed before the superblock that leads to it",
				n.Logical()))
		}
	}
	return nil
}
