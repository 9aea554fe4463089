package explore

import (
	"iter"
	"strconv"
	"strings"

	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// A crashed is a crash disk, and what the checker is told of it.
type crashed struct {
	*crash.State
	second *crash.State // a crash in the middle of the recovery from it; nil: the recovery came to its end
	window int
	Crash
}

// crashes visits the crash disks of a run, window by window of what its Mutate asked for.
func (s *session) crashes(r *execution, options crash.Options, visit func(c crashed) error) (crash.Stats, error) {
	var bases []crash.Base
	var numbers []uint32
	for i, d := range s.disks {
		bases, numbers = append(bases, s.bases[i]), append(numbers, d.Number)
	}
	options.ByMark = true
	e := crash.New(crash.Join(bases...), options)
	at := crashed{}
	visitAt := func(st *crash.State) error { at.State = st; return visit(at) }
	begun, open := false, false
	for ev, err := range crash.FromWriteSet(s.each(r.records), r.blocks, numbers...) {
		if err != nil {
			return e.Stats(), err
		}
		kind, window, ok := windowMark(ev, r.windows)
		if kind == markStep {
			begun = true
		}
		ok = ok && begun
		switch {
		case !open && !ok:
			err = e.Add(ev, nil)
		case !open:
			w := r.windows[window]
			at = crashed{window: window, Crash: Crash{Epoch: Begin, Before: w.before, After: w.after}}
			if kind == markNow {
				at.Epoch = End
			}
			if err = e.Add(ev, nil); err == nil {
				err = e.Now(visitAt)
			}
			open, at.Epoch = kind == markStart, InBetween
		default:
			if err = e.Add(ev, visitAt); err == nil && ok && kind == markEnd {
				at.Epoch, open = End, false
				err = e.Now(visitAt)
			}
		}
		if err != nil {
			return e.Stats(), err
		}
	}
	return e.Stats(), nil
}

// windowMark tells whether an event is a mark that the windows of a run know.
func windowMark(ev crash.Event, windows []window) (kind string, number int, ok bool) {
	if ev.Kind != crash.Marked {
		return "", 0, false
	}
	if strings.HasPrefix(ev.Mark, markStep) {
		return markStep, 0, false
	}
	for _, kind := range []string{markNow, markStart, markEnd} {
		if rest, has := strings.CutPrefix(ev.Mark, kind); has {
			n, err := strconv.Atoi(rest)
			return kind, n, err == nil && n < len(windows)
		}
	}
	return "", 0, false
}

// each yields records. A disk that writes through is one to which each write is FUA.
func (s *session) each(records []ramdisk.Record) iter.Seq2[*ramdisk.Record, error] {
	return func(yield func(*ramdisk.Record, error) bool) {
		for i := range records {
			rec := &records[i]
			if s.through && rec.Type == ramdisk.Submit {
				through := *rec
				through.Flags |= ramdisk.FUA
				rec = &through
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// sum names what a crash disk holds.
func (c crashed) sum() string { return c.Contents().String() }
