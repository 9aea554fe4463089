package campaign

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// TestDoubledIsNotDone checks that an index with two results does not stand for one without.
func TestDoubledIsNotDone(t *testing.T) {
	d := testDefinition("a", 4, 2)
	q := &Queue{Definition: d, digest: d.Digest()}
	tally := q.NewTally()
	for _, u := range []Unit{{q.digest, 0, 1}, {q.digest, 0, 0}, {q.digest, 1, 1}} {
		text, err := encode(&Result{Unit: u, Outcome: Tested, Worker: "w"})
		if err != nil {
			t.Fatal(err)
		}
		tally.add(resultSubject(d.Name, u.ID()), text, time.Now())
	}
	if tally.Bad != 0 || tally.Doubled() != 2 {
		t.Fatalf("%d bad messages, %d counted twice", tally.Bad, tally.Doubled())
	}
	if tally.Left() != 2 || tally.Done() {
		t.Errorf("%d of the indexes 2 and 3 are left, done: %v", tally.Left(), tally.Done())
	}
}

// TestRateLeavesOutStops checks that the rate of a campaign does not count the time in which it was
// stopped, and counts the time of two units that run together once.
func TestRateLeavesOutStops(t *testing.T) {
	d := testDefinition("a", 4, 1)
	q := &Queue{Definition: d, digest: d.Digest()}
	tally, begin := q.NewTally(), time.Now()
	for i, end := range []time.Duration{10, 20, 3620, 3625} { // in seconds
		u := Unit{q.digest, uint64(i), uint64(i)}
		text, err := encode(&Result{Unit: u, Outcome: Tested, Worker: "w", Seconds: 10})
		if err != nil {
			t.Fatal(err)
		}
		tally.add(resultSubject(d.Name, u.ID()), text, begin.Add(end*time.Second))
	}
	if got, want := tally.Rate(), 4.0/35; tally.Bad != 0 || got < want*0.99 || got > want*1.01 {
		t.Errorf("%d bad messages, %v a second; want %v", tally.Bad, got, want)
	}
}

// TestFindingsCutShort checks that a list of findings that ends early is no list.
func TestFindingsCutShort(t *testing.T) {
	entries := make(chan jetstream.KeyValueEntry, 1)
	entries <- nil
	if _, _, err := readFindings(entries); err != nil {
		t.Error(err)
	}
	close(entries)
	if _, _, err := readFindings(entries); err == nil {
		t.Error("no error, although the end of the list is missing")
	}
}

// TestBadFinding checks that a status counts what is no finding, and the next one does so once.
func TestBadFinding(t *testing.T) {
	q := submitted(t, connect(t, t.TempDir()), testDefinition("a", 2, 2))
	if _, err := q.findings.Put(t.Context(), "0123456789abcdef", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	tally := q.NewTally()
	for range 2 {
		s, err := q.Status(t.Context(), tally)
		if err != nil {
			t.Fatal(err)
		}
		if s.Bad != 1 || s.Exact() {
			t.Errorf("%d bad messages, exact: %v", s.Bad, s.Exact())
		}
	}
}
