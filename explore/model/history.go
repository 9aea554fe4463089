package model

// history is what something was from which moment on, in order.
type history[T any] []version[T]

type version[T any] struct {
	at   int
	what T
	meta bool // of contents: changed by truncate(2) and its like, which a journal orders
}

func (h history[T]) now() T { return h[len(h)-1].what }

// at is the place of what was at a moment; -1 before there was anything.
func (h history[T]) at(moment int) int {
	i := len(h) - 1
	for i >= 0 && h[i].at > moment {
		i--
	}
	return i
}

// since is all that was at a moment and after it.
func (h history[T]) since(moment int) history[T] { return h[max(0, h.at(moment)):] }

func (h *history[T]) set(at int, what T) { *h = append(*h, version[T]{at: at, what: what}) }

// kept is since, of contents that may be none.
func (h history[T]) kept(moment int) history[T] {
	if len(h) == 0 {
		return nil
	}
	return h.since(moment)
}
