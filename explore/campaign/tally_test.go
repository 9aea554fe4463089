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
