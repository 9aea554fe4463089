package model

import "slices"

// A history is the values that something had, in order. A moment is the number of an operation: the
// state at moment n is the one after operation n.
type history[T any] []version[T]

// A version is a value from one moment until the next version.
type version[T any] struct {
	at    int // moment since which it has the value; 0: from the beginning
	value T
	meta  bool // of content: set by truncate(2) or fallocate(2), which a journal orders
	by    allocation
}

// An allocation is the range of fallocate(2) that set a content, with the end that it gives the
// file on the disk. It is zero for everything else.
type allocation struct{ off, end, reach uint64 }

// orders reports whether a journal orders the change of a range of a file with those of metadata.
// That is so for truncate(2), and for the whole blocks of fallocate(2): it writes the parts of
// blocks at both ends of its range as data.
func (a allocation) orders(off, end uint64) bool {
	return a == allocation{} || (a.off+Block-1)/Block*Block <= off && end <= a.end/Block*Block
}

func (h history[T]) now() T { return h[len(h)-1].value }

// at returns the index of the version at a moment, or -1 if the history begins later.
func (h history[T]) at(moment int) int {
	i := len(h) - 1
	for i >= 0 && h[i].at > moment {
		i--
	}
	return i
}

// since returns the version at a moment and all later ones. An empty history has none.
func (h history[T]) since(moment int) history[T] { return h[max(0, h.at(moment)):] }

func (h *history[T]) set(at int, value T) { *h = append(*h, version[T]{at: at, value: value}) }

// ordered reports whether a version up to a moment was set by truncate(2) or fallocate(2).
func (h history[T]) ordered(meta int) bool {
	return slices.ContainsFunc(h, func(v version[T]) bool { return v.meta && v.at <= meta })
}
