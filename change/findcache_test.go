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

// A countedCache counts the searches behind a cache, and can make them fail.
type countedCache struct {
	*testing.T
	cache    change.FindCache
	names    *change.Names
	searches int
	failure  error // of each search
}

// search visits the objects 0 to 9.
func (c *countedCache) search(visit func(*change.Record) bool) error {
	if c.searches++; c.failure != nil {
		return c.failure
	}
	for id := range uint64(10) {
		if !visit(&change.Record{Object: object(id)}) {
			break
		}
	}
	return nil
}

// find returns at most most of the objects from lo to hi. For each object of a range it asks the
// cache once more, within the call.
func (c *countedCache) find(lo, hi uint64, most int) (ids []uint64) {
	err := c.cache.Find(c.names, object(lo), object(hi), c.search, func(r *change.Record) bool {
		ids = append(ids, r.Object.ID)
		if lo < hi {
			_ = c.cache.Find(c.names, object(lo), object(lo), c.search,
				func(*change.Record) bool { return true })
		}
		return len(ids) < most
	})
	if !errors.Is(err, c.failure) {
		c.Fatal(err)
	}
	return ids
}

// TestFindCache checks that a range that is requested twice in a row is searched once, unless a
// visitor ended the search or the names were reset.
func TestFindCache(t *testing.T) {
	c := &countedCache{T: t, names: change.NewNames()}
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
		before := c.searches
		got := c.find(step.lo, step.hi, step.most)
		if !slices.Equal(got, step.want) || c.searches-before != step.searches {
			t.Errorf("%v: found %v in %d searches", step, got, c.searches-before)
		}
	}
	c.failure = io.ErrUnexpectedEOF
	c.find(5, 5, 9)
	c.failure = nil
	if got := c.find(5, 5, 9); len(got) != 1 {
		t.Errorf("after a search that failed: %v", got)
	}
	before := c.searches
	c.names.Reset()
	if c.find(12, 13, 9); c.searches == before {
		t.Error("records with names from before a reset were found")
	}
}
