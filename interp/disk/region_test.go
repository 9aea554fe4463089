package disk

import (
	"errors"
	"math"
	"testing"
)

func TestSub(t *testing.T) {
	r := NewRegion([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 4096)
	for _, tc := range []struct {
		off, n uint64
		ok     bool
	}{
		{0, 8, true}, {8, 0, true}, {4, 4, true}, {0, 9, false}, {9, 0, false}, {4, 5, false},
		{1, math.MaxUint64, false}, {math.MaxUint64, 2, false}, {math.MaxUint64, math.MaxUint64, false},
	} {
		s, err := r.Sub(tc.off, tc.n)
		if (err == nil) != tc.ok {
			t.Errorf("Sub(%d, %d): %v", tc.off, tc.n, err)
			continue
		}
		if tc.ok && (s.Addr() != 4096+tc.off || uint64(s.Len()) != tc.n) {
			t.Errorf("Sub(%d, %d) is %d bytes at %d", tc.off, tc.n, s.Len(), s.Addr())
		}
		var bounds *BoundsError
		if !tc.ok && (!errors.As(err, &bounds) || bounds.Addr != 4096) {
			t.Errorf("Sub(%d, %d): %v does not name the address", tc.off, tc.n, err)
		}
	}
	s, _ := r.Sub(0, 4)
	if cap(s.Bytes()) != 4 {
		t.Error("appending to a part would write over what follows it")
	}
	if r.U8(1) != 2 || r.U16(0) != 0x0201 || r.U32(0) != 0x04030201 || r.U64(0) != 0x0807060504030201 {
		t.Error("numbers are little-endian")
	}
}
