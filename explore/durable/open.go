package durable

import (
	"cmp"

	"github.com/google/btree"
)

// degree is the degree of the B-trees of open writes.
const degree = 32

// openWrites holds the writes that are not durable. Two B-trees order them, by offset and by the
// order of issue: a write with FUA then costs no more beside 100,000 unflushed writes than beside
// ten, and a call that returns looks only at the writes that were issued since it began. The zero
// value is not ready: see newOpenWrites.
type openWrites struct {
	byID     map[uint64]*Write
	byOrder  *btree.BTreeG[*Write]
	byOffset *btree.BTreeG[*Write]
}

func newOpenWrites() *openWrites {
	return &openWrites{
		byID: make(map[uint64]*Write),
		byOrder: btree.NewG(degree, func(a, b *Write) bool {
			return a.order < b.order
		}),
		byOffset: btree.NewG(degree, func(a, b *Write) bool {
			return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(a.order, b.order)) < 0
		}),
	}
}

func (o *openWrites) count() int { return o.byOrder.Len() }

func (o *openWrites) add(w *Write) {
	o.byID[w.ID] = w
	o.byOrder.ReplaceOrInsert(w)
	o.byOffset.ReplaceOrInsert(w)
}

func (o *openWrites) remove(w *Write) {
	if o.byID[w.ID] == w {
		delete(o.byID, w.ID)
	}
	o.byOrder.Delete(w)
	o.byOffset.Delete(w)
}

// lose records that only the first done bytes of w reached the disk and that the others never will.
func (o *openWrites) lose(w *Write, done uint64) {
	o.byOffset.Delete(w)
	w.Off, w.Len, w.lost = w.Off+done, w.Len-done, true
	o.byOffset.ReplaceOrInsert(w)
}

// removeOverwritten removes the writes before done, lost ones among them, whose whole range done
// has overwritten.
func (o *openWrites) removeOverwritten(done *Write) {
	var gone []*Write
	o.byOffset.AscendGreaterOrEqual(&Write{Off: done.Off}, func(w *Write) bool {
		if w.Off > done.Off+done.Len {
			return false
		}
		if w.order < done.order && w.Off+w.Len <= done.Off+done.Len {
			gone = append(gone, w)
		}
		return true
	})
	for _, w := range gone {
		o.remove(w)
	}
}

// flush removes every write that is not lost, and calls settled with the ID of each write.
func (o *openWrites) flush(settled func(id uint64)) {
	lost := newOpenWrites()
	o.byOrder.Ascend(func(w *Write) bool {
		settled(w.ID)
		if w.lost {
			lost.add(w)
		}
		return true
	})
	*o = *lost
}

// since calls visit with each write that was issued after the first order ones, in that order.
func (o *openWrites) since(order uint64, visit func(w *Write)) {
	o.byOrder.AscendGreaterOrEqual(&Write{order: order + 1}, func(w *Write) bool {
		visit(w)
		return true
	})
}
