package agent

import (
	"slices"
	"testing"

	"fsward/explore/ekm"
)

// TestFailAt checks the encoding of FailAt and of hits.
func TestFailAt(t *testing.T) {
	want := []ekm.Point{ekm.Slab, ekm.BufferRead}
	o := FailAt(want, []uint32{1, 4}, 77)
	points, values, threads, err := decodeFailAt(&o)
	if err != nil || !slices.Equal(points, want) || !slices.Equal(values, []uint32{0, 1, 0, 0, 1}) ||
		!slices.Equal(threads, []uint32{77}) {
		t.Errorf("%v, %v, %v, %v", points, values, threads, err)
	}
	for _, bad := range [][]byte{{1}, {0, 1}, {0, 1, 0xff, 0xff, 0xff, 0xff, 1}, {0, 0, 1}} {
		if _, _, _, err := decodeFailAt(&Op{Code: opFailAt, data: bad}); err == nil {
			t.Errorf("decodeFailAt accepts %v", bad)
		}
	}
	hits := []Hit{{ekm.Slab, 1 << 60, true, "ext4_mkdir+0x10"}, {ekm.PageRead, 2, false, ""}}
	got, err := DecodeHits(EncodeHits(hits))
	if err != nil || !slices.Equal(got, hits) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := DecodeHits([]byte{1, 2}); err == nil {
		t.Error("DecodeHits accepts an incomplete hit")
	}
}
