package agent

import (
	"bytes"
	"testing"
)

// TestPattern checks that a byte has the same value in whatever part of the file it is asked for.
func TestPattern(t *testing.T) {
	var whole [64]byte
	Pattern(whole[:], 0, 7)
	if n := bytes.Count(whole[:], whole[:1]); n > 8 {
		t.Errorf("%d of 64 bytes are equal", n)
	}
	for off := range len(whole) {
		for end := off; end <= len(whole); end++ {
			part := make([]byte, end-off)
			Pattern(part, uint64(off), 7)
			if !bytes.Equal(part, whole[off:end]) {
				t.Errorf("bytes %d to %d are %x, want %x", off, end, part, whole[off:end])
			}
		}
	}
}

func BenchmarkPattern(b *testing.B) {
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		Pattern(buf, 0, 1)
	}
}
