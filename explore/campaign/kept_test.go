package campaign

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// spans agree with a set of indexes.
func TestSpans(t *testing.T) {
	const n = 60
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		var s spans
		var set [n]bool
		for range 25 {
			from := random.Uint64N(n)
			e := span{from, min(n-1, from+random.Uint64N(9))}
			twice, all := uint64(0), true
			for i := e[0]; i <= e[1]; i++ {
				if set[i] {
					twice++
				}
				all = all && set[i]
				set[i] = true
			}
			if got := s.covers(e); got != all {
				t.Fatalf("seed %d: %v covers %v: %v", seed, s, e, got)
			}
			if got := s.add(e); got != twice || !s.covers(e) {
				t.Fatalf("seed %d: %v: %v was there %d times, want %d", seed, s, e, got, twice)
			}
		}
		size := uint64(0)
		for _, there := range set {
			if there {
				size++
			}
		}
		d := testDefinition("a", n, 1)
		if err := s.within(&d); err != nil || s.size() != size {
			t.Fatalf("seed %d: %v: %d, want %d; %v", seed, s, s.size(), size, err)
		}
	}
}

// finished returns a campaign of n units of two indexes with a result each, published as a worker
// does. Each seventh unit was split.
func finished(t *testing.T, n uint64) *Queue {
	t.Helper()
	q := submitted(t, connect(t, t.TempDir()), testDefinition("a", 2*n, 2))
	finding := Finding{Kind: "lost"}
	w := newWorker(q.client, "w", nil)
	err := q.Definition.Units(func(u Unit) error {
		if u.From%7 == 0 {
			if _, err := q.publish(t.Context(), &Result{Unit: u, Outcome: Split, Worker: "x"}); err != nil {
				return err
			}
			for _, half := range u.halves() {
				if err := w.record(t.Context(), q, half, Done{}, time.Second); err != nil {
					return err
				}
			}
			return nil
		}
		_, err := q.publish(t.Context(), &Result{Unit: u, Outcome: Tested, Seconds: 1,
			Worker: fmt.Sprintf("w%d", u.From%3), Findings: []Count{{finding.key(), 2}}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// normal returns a tally whose times are in UTC.
func normal(t *Tally) *Tally {
	n := *t
	n.last = t.last.UTC()
	n.workers = make(map[string]*WorkerTally)
	for name, w := range t.workers {
		c := *w
		c.Last = c.Last.UTC()
		n.workers[name] = &c
	}
	return &n
}

// A tally that begins with the one that the server keeps is that of all results. One that cannot be
// true is not believed.
func TestKept(t *testing.T) {
	q := finished(t, keepEvery)
	read := func() *Tally {
		t.Helper()
		tally := q.NewTally()
		if err := tally.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		tally.queue = nil
		return tally
	}
	kept := func() *keptTally {
		t.Helper()
		entry, err := q.kept.Get(t.Context(), keptKey)
		if err != nil {
			t.Fatal(err)
		}
		k, err := decodeKept(entry.Value())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if k := kept(); k.Read != keepEvery || len(k.Done) != 1 {
		t.Errorf("kept: %+v", k)
	}
	with := read()
	if err := q.kept.Delete(t.Context(), keptKey); err != nil {
		t.Fatal(err)
	}
	want := read()
	if !reflect.DeepEqual(normal(with), normal(want)) {
		t.Errorf("%+v\nwant %+v", with, want)
	}
	if err := q.keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k := kept(); k.Read != want.read {
		t.Errorf("kept: %+v", k)
	}
	ignoresWrongTallies(t, q, kept, func() bool {
		return reflect.DeepEqual(normal(read()), normal(want))
	})
}

// ignoresWrongTallies checks that a reader ignores a kept tally that cannot be right. same reports
// whether a reader gets the tally of all results.
func ignoresWrongTallies(t *testing.T, q *Queue, kept func() *keptTally, same func() bool) {
	t.Helper()
	for name, change := range map[string]func(*keptTally){
		"sum":      func(k *keptTally) { k.Counts.Tested++ },
		"campaign": func(k *keptTally) { k.Digest = shortHash("x"); k.Counts.Seconds = 5 },
		"future":   func(k *keptTally) { k.Read += 7; k.Counts.Results += 7 },
		"index":    func(k *keptTally) { k.Done[0] = span{7, k.Done[0][1] + 7} },
		"worker":   func(k *keptTally) { k.Workers[0].Worker = "\x1b[2J" },
	} {
		k := kept()
		change(k)
		text, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := compress(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.kept.Put(t.Context(), keptKey, packed); err != nil {
			t.Fatal(err)
		}
		if !same() {
			t.Errorf("%s: the tally is believed", name)
		}
		if err := q.keep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
