package change_test

import (
	"errors"
	"io"
	"slices"
	"testing"

	"fsward/change"
)

// object returns the object of an id.
func object(id uint64) change.Object { return change.Object{Kind: 1, ID: id} }

// A FindCache searches once for what is asked twice in a row, unless a visitor ended the search or
// the names were reset.
func TestFindCache(t *testing.T) {
	var cache change.FindCache
	names, searches := change.NewNames(), 0
	var failure error // of a search
	find := func(lo, hi uint64, most int) (ids []uint64) {
		search := func(visit func(*change.Record) bool) error {
			if searches++; failure != nil {
				return failure
			}
			for id := range uint64(10) {
				if !visit(&change.Record{Object: object(id)}) {
					break
				}
			}
			return nil
		}
		err := cache.Find(names, object(lo), object(hi), search, func(r *change.Record) bool {
			ids = append(ids, r.Object.ID)
			if lo < hi { // a call within a call
				_ = cache.Find(names, object(lo), object(lo), search,
					func(*change.Record) bool { return true })
			}
			return len(ids) < most
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
		return ids
	}
	for _, step := range []struct {
		lo, hi   uint64
		most     int
		want     []uint64
		searches int
	}{
		{3, 3, 9, []uint64{3}, 1},
		{3, 3, 9, []uint64{3}, 0},
		{4, 6, 9, []uint64{4, 5, 6}, 2}, // one of them for the calls within
		{4, 6, 9, []uint64{4, 5, 6}, 1},
		{4, 6, 1, []uint64{4}, 1},
		{12, 13, 9, nil, 1},
		{12, 13, 9, nil, 0},
	} {
		before := searches
		got := find(step.lo, step.hi, step.most)
		if !slices.Equal(got, step.want) || searches-before != step.searches {
			t.Errorf("%v: found %v in %d searches", step, got, searches-before)
		}
	}
	failure = io.ErrUnexpectedEOF
	find(5, 5, 9)
	failure = nil
	if got := find(5, 5, 9); len(got) != 1 {
		t.Errorf("after a search that failed: %v", got)
	}
	before := searches
	names.Reset()
	if find(12, 13, 9); searches == before {
		t.Error("records with names from before a reset were found")
	}
}
