package ext3

import (
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/shareddata"
)

// A streamed compares the stream of a commit with its transaction.
type streamed struct {
	t   testing.TB
	s   *commitStream
	all []change.Record // of the stream
}

// sameAsStream checks that the stream of a comparison has the records of its transaction, and that
// Find finds them.
func sameAsStream(t testing.TB, d *delta) {
	t.Helper()
	want := recordTexts(d.txn)
	kept := *d.txn
	d.txn.Names = change.NewNames()
	defer func() { d.txn.Names = kept.Names }()
	c := &streamed{t: t, s: newCommitStream(d)}
	var got []string
	inPart := make(map[change.Object]int)
	parts := 0
	err := c.s.Each(func(part *change.Txn) error {
		parts++
		for _, r := range part.Records {
			if in, met := inPart[r.Object]; met && in != parts {
				t.Errorf("%s is in several parts", schema.RecordText(r, part.Names))
			}
			inPart[r.Object] = parts
		}
		c.all = append(c.all, part.Records...)
		got = append(got, recordTexts(part)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("as a stream:\n%s\nas one transaction:\n%s", got, want)
	}
	c.find(1 + len(c.all)/1000)
}

func recordTexts(txn *change.Txn) (texts []string) {
	for _, r := range txn.Records {
		texts = append(texts, schema.RecordText(r, txn.Names))
	}
	return texts
}

// find finds every object of a kind, all objects of each number, and each object by itself, of one
// record in some.
func (c *streamed) find(some int) {
	var last change.Object
	kinds, ids := make(map[change.Kind]bool), make(map[change.Object]bool)
	for i := 0; i < len(c.all); i += some {
		o := c.all[i].Object
		if o == last {
			continue
		}
		last = o
		c.between(o, o)
		lo := change.Object{Kind: o.Kind, ID: o.ID}
		hi := lo
		hi.Sub, hi.Aux = ^uint64(0), ^uint64(0)
		if !ids[lo] {
			ids[lo] = true
			c.between(lo, hi)
		}
		if !kinds[o.Kind] {
			kinds[o.Kind] = true
			lo.ID, hi.ID = 0, ^uint64(0)
			c.between(lo, hi)
		}
		o.ID += 1 << 33
		c.between(o, o)
	}
}

// between finds the objects from lo to hi.
func (c *streamed) between(lo, hi change.Object) {
	var want, got []change.Record
	for _, r := range c.all {
		if r.Object.Kind == lo.Kind && r.Object.Compare(lo) >= 0 && r.Object.Compare(hi) <= 0 {
			want = append(want, r)
		}
	}
	slices.SortStableFunc(want, func(a, b change.Record) int { return a.Object.Compare(b.Object) })
	first := true
	err := c.s.Find(lo, hi, func(r *change.Record) bool {
		kept := *r
		if first { // a call within a call
			first = false
			found := 0
			if err := c.s.Find(lo, lo, func(*change.Record) bool { found++; return false }); err != nil ||
				found == 0 && lo == hi {
				c.t.Errorf("a search within a search: %d, %v", found, err)
			}
		}
		if *r != kept {
			c.t.Error("a search within a search changed the record")
		}
		got = append(got, kept)
		return true
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		c.t.Fatalf("from %v to %v: found %v, want %v", lo, hi, got, want)
	}
}

// TestCommitStreams checks that the commits of a recording have the same records as streams, and
// become streams if the memory is small.
func TestCommitStreams(t *testing.T) {
	base := Unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst"))
	streams := 0
	d := OpenImage(t, base)
	whole, err := NewWithin(d, first(d), interp.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	small, err := NewWithin(d, first(d), interp.Limits{Memory: 2})
	if err != nil {
		t.Fatal(err)
	}
	writes(t, Unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst")), func(w interp.Write) {
		obs, part := whole.Observe(w), small.Observe(w)
		if obs.Unknown != nil || part.Unknown != nil || (obs.Txn == nil) != (part.Stream == nil) {
			t.Fatalf("%v, %v", obs, part)
		}
		if obs.Txn != nil && len(obs.Txn.Records) > 0 {
			streams++
			sameAsStream(t, whole.pending.commit.delta)
			if part.Stream.Len() != len(obs.Txn.Records) || part.Txn != nil {
				t.Fatalf("%d records as a stream, %d as a transaction", part.Stream.Len(),
					len(obs.Txn.Records))
			}
		}
		d.Apply(w)
		whole.Settle(true)
		small.Settle(true)
	})
	if streams < 20 {
		t.Errorf("%d streams", streams)
	}
}
