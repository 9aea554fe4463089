package explore

import (
	"iter"
	"strconv"
	"strings"

	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/explore/ramdisk"
)

// earlyCall begins the kind of a failure about a call that returned too early.
const earlyCall = "not flushed: "

// checkDurability checks the promises of an execution's last step against an account of flushes. It
// returns a failure about the first call that returned too early; nil: there is none.
func (r *execution) checkDurability(disks *diskSet, account *durable.Account) (*Failure, error) {
	last := false
	for ev, err := range crash.FromBios(withoutDiscards(disks.each(r.records)), disks.numbers()...) {
		if err != nil {
			return nil, err
		}
		if ev.Kind != crash.Marked {
			if err := account.Add(ev); err != nil {
				return nil, err
			}
			continue
		}
		last = last || strings.HasPrefix(ev.Mark, markStep)
		if n, ok := promiseMark(ev.Mark, markBegin, r.calls); ok && last {
			if err := account.Begin(strconv.Itoa(n)); err != nil {
				return nil, err
			}
		}
		if n, ok := promiseMark(ev.Mark, markReturn, r.calls); ok && last {
			p := r.calls[n]
			d, early := account.Return(strconv.Itoa(n), p.scope, ev.At)
			if d.Call = p.call; early && p.succeeded {
				return &Failure{Kind: earlyCall + p.name, Text: d.String()}, nil
			}
		}
	}
	return nil, nil
}

// promiseMark returns the number of the call that a mark of this kind is about. ok is false for any
// other mark.
func promiseMark(text, kind string, calls []promise) (number int, ok bool) {
	rest, ok := strings.CutPrefix(text, kind)
	n, err := strconv.Atoi(rest)
	return n, ok && err == nil && n >= 0 && n < len(calls)
}

// withoutDiscards yields all records but discards, which no call has to make durable.
func withoutDiscards(records iter.Seq2[*ramdisk.Record, error]) iter.Seq2[*ramdisk.Record, error] {
	return func(yield func(*ramdisk.Record, error) bool) {
		for r, err := range records {
			if err == nil && r.Op == ramdisk.Discard {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
