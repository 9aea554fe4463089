package invariants_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// A factStream gives the records of a transaction as a commit that is too large for memory would.
type factStream struct {
	txn  *change.Txn
	part int // least number of records in a part
}

var _ change.Finder = (*factStream)(nil)

func (s *factStream) Len() int             { return len(s.txn.Records) }
func (s *factStream) Names() *change.Names { return s.txn.Names }
func (s *factStream) Work() *change.Work   { return s.txn.Work }

func (s *factStream) Made(k change.Kind, f change.Field) bool {
	for _, r := range s.txn.Records {
		if r.Object.Kind == k && r.Field == f {
			return true
		}
	}
	return false
}

func (s *factStream) Each(visit func(*change.Txn) error) error {
	part := *s.txn
	for rest := s.txn.Records; len(rest) > 0; {
		n := min(s.part, len(rest))
		for n < len(rest) && rest[n].Object == rest[n-1].Object {
			n++
		}
		part.Records = append([]change.Record(nil), rest[:n]...)
		if err := visit(&part); err != nil {
			return err
		}
		clear(part.Records) // the records of a part are valid during the visit
		rest = rest[n:]
	}
	return nil
}

func (s *factStream) Find(lo, hi change.Object, visit func(*change.Record) bool) error {
	for _, r := range s.txn.Records {
		if r.Object.Compare(lo) >= 0 && r.Object.Compare(hi) <= 0 && !visit(&r) {
			break
		}
	}
	return nil
}

// differAsStream compares the verdict on a stream with that on the transaction, unless the stream
// leaves a rule undecided. It reports whether it compared any.
func differAsStream(t testing.TB, c choices, compiled *invariants.Compiled, f *facts.Facts,
	want invariants.Verdict) bool {
	t.Helper()
	memory := uint64(1 << c.IntN(20))
	got := compiled.CheckStream(context.Background(), &factStream{f.Txn, 1 + c.IntN(8)}, f.View,
		memory)
	for _, u := range got.Undecided {
		if strings.Contains(u, "cannot be judged in a file system that is too large") ||
			strings.Contains(u, "need more memory than is available") {
			return false
		}
	}
	plain := func(v invariants.Verdict) invariants.Verdict {
		out := invariants.Verdict{Undecided: v.Undecided}
		for _, x := range v.Violations {
			x.Witness = nil
			out.Violations = append(out.Violations, x)
		}
		return out
	}
	if d := difference(plain(want), plain(got)); d != "" {
		t.Errorf("with %d bytes of sums (-transaction +stream):\n%s", memory, d)
	}
	return true
}

// TestDifferentialStreams compares the verdicts on random transactions with those on the same
// transactions as streams, with random rules.
func TestDifferentialStreams(t *testing.T) {
	compared, undecided := 0, 0
	for seed := uint64(0); seed < 500 && !t.Failed(); seed++ {
		c := choices{rand.New(rand.NewPCG(seed, 1))}
		rules := c.rule(1)
		for i := range 4 {
			text := recorded(t)
			if i > 0 {
				text = c.world()
			}
			f := parseFacts(t, text)
			o := invariants.Options{OpenVocabulary: true, MaxViolations: 100000}
			compiled, err := invariants.NewCompiled(f.Txn.Schema,
				[]invariants.File{{Name: "random.pl", Text: []byte(rules)}}, o)
			if err != nil {
				continue
			}
			want := compiled.Check(context.Background(), f.Txn, f.View)
			if differAsStream(t, c, compiled, f, want) {
				compared++
			} else {
				undecided++
			}
			if t.Failed() {
				t.Fatalf("seed %d:\n%s\n%s", seed, rules, text)
			}
		}
	}
	t.Logf("%d verdicts were compared, %d streams were undecided", compared, undecided)
	if compared < 1000 {
		t.Error("too few verdicts were compared")
	}
}
