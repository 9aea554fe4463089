package durable

import (
	"errors"
	"fmt"
	"testing"

	"fsward/explore/crash"
)

func log(events ...crash.Event) crash.Events {
	return func(yield func(crash.Event, error) bool) {
		for i, ev := range events {
			ev.At = uint64(i)
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func write(id, sector uint64) crash.Event {
	return crash.Event{Kind: crash.Issued, Write: crash.Write{ID: id, Off: sector * 512, Len: 512}}
}

func mark(text string) crash.Event { return crash.Event{Kind: crash.Marked, Mark: text} }

// lost ends write 1 after its first done bytes, without an error.
func lost(done uint64) crash.Event {
	return crash.Event{Kind: crash.Failed, IDs: []uint64{1}, Done: done, Silent: true}
}

// long is a write of two sectors.
var long = crash.Event{Kind: crash.Issued, Write: crash.Write{ID: 1, Len: 1024}}

var flush = crash.Event{Kind: crash.Settled, All: true}

func settled(ids ...uint64) crash.Event { return crash.Event{Kind: crash.Settled, IDs: ids} }

// followCases has, for each way in which a call can return too early, also a call that does not.
func followCases() []followCase {
	begin, end, endAll := mark("begin f"), mark("return f"), mark("return all f")
	failed := crash.Event{Kind: crash.Failed, IDs: []uint64{1}}
	return []followCase{
		{"flushed", []crash.Event{begin, write(1, 0), flush, end}, nil},
		{"not flushed", []crash.Event{begin, write(1, 0), end, flush}, []uint64{1}},
		{"FUA", []crash.Event{begin, write(1, 0), settled(1), end}, nil},
		{"flushed, then the commit block", []crash.Event{
			begin, write(1, 0), flush, write(2, 1), end,
		}, []uint64{2}},
		{"a commit block with FUA before its data was flushed", []crash.Event{
			begin, write(1, 0), write(2, 1), settled(2), end,
		}, []uint64{1}},
		{"earlier writes of others", []crash.Event{
			write(1, 0), begin, write(2, 1), settled(2), end,
		}, nil},
		{"sync depends on others", []crash.Event{
			write(1, 0), begin, write(2, 1), settled(2), endAll,
		}, []uint64{1}},
		{"overwritten with FUA", []crash.Event{
			begin, write(1, 0), write(2, 0), settled(2), end,
		}, nil},
		{"the first version is durable, the second is not", []crash.Event{
			begin, write(1, 0), write(2, 0), settled(1), end,
		}, []uint64{2}},
		{"failed", []crash.Event{begin, write(1, 0), failed, end}, nil},
		{"lost without an error", []crash.Event{
			begin, write(1, 0), lost(0), flush, end,
		}, []uint64{1}},
		{"its end lost", []crash.Event{begin, long, lost(512), settled(1), end}, []uint64{1}},
		{"lost and overwritten", []crash.Event{
			begin, write(1, 0), lost(0), write(2, 0), settled(2), end,
		}, nil},
		{"its end lost, its beginning overwritten", []crash.Event{
			begin, long, lost(512), write(2, 0), settled(1, 2), end,
		}, []uint64{1}},
		{"two calls", []crash.Event{
			begin, mark("begin g"), write(1, 0), mark("return g"), flush, end,
		}, []uint64{1}},
		{"nothing was written", []crash.Event{begin, end, mark("user text")}, nil},
	}
}

// A followCase is a log, and the IDs of the writes in the debts that it must give.
type followCase struct {
	name  string
	log   []crash.Event
	debts []uint64
}

// TestFollow checks which calls return too early, and because of which writes.
func TestFollow(t *testing.T) {
	for _, c := range followCases() {
		t.Run(c.name, func(t *testing.T) {
			var a Account
			debts, err := a.Follow(log(c.log...))
			if err != nil {
				t.Fatal(err)
			}
			var ids []uint64
			for _, d := range debts {
				for _, w := range d.Writes {
					ids = append(ids, w.ID)
				}
			}
			if len(ids) != len(c.debts) || len(ids) > 0 && ids[0] != c.debts[0] {
				t.Errorf("debts for the writes %v, want %v: %v", ids, c.debts, debts)
			}
		})
	}
}

// TestExempt checks that exempt writes are no debt.
func TestExempt(t *testing.T) {
	a := Account{Exempt: func(off, _ uint64) bool { return off == 512 }}
	debts, err := a.Follow(log(mark("begin f"), write(1, 0), write(2, 1), mark("return f")))
	if err != nil || len(debts) != 1 || len(debts[0].Writes) != 1 || debts[0].Writes[0].Off != 0 {
		t.Errorf("debts %v, %v; want one for the write at 0", debts, err)
	}
}

// BenchmarkAccount measures the cost of an event, with a flush after every 99 writes.
func BenchmarkAccount(b *testing.B) {
	var a Account
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		ev := write(i, i)
		if i%100 == 99 {
			ev = flush
		}
		if err := a.Add(ev); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSettle measures the cost of a write with FUA beside unflushed writes.
func BenchmarkSettle(b *testing.B) {
	for _, n := range []uint64{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var a Account
			for i := range n {
				if err := a.Add(write(i, i)); err != nil {
					b.Fatal(err)
				}
			}
			for i := n; b.Loop(); i++ {
				if err := errors.Join(a.Add(write(i, n)), a.Add(settled(i))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One place is written many times, and one flush makes all of these writes durable. A look at all
// of them for each is one of minutes.
func TestManyWritesOfOnePlace(t *testing.T) {
	const n = 200_000
	var a Account
	var ids []uint64
	for id := range uint64(n) {
		if err := a.Add(write(id+1, 0)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id+1)
	}
	if err := errors.Join(a.Add(write(n+1, 0)), a.Add(settled(ids...))); err != nil {
		t.Fatal(err)
	}
	if d, early := a.Return("sync", All, 0); !early || len(d.Writes) != 1 || d.Writes[0].ID != n+1 {
		t.Errorf("debts of %d writes, want the last one", len(d.Writes))
	}
}
