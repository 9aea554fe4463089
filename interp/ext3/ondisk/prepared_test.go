package ondisk

import (
	"encoding/binary"
	"testing"
)

// leaf returns a block of a directory with one name, and with room for a checksum or not.
func leaf(room bool) []byte {
	b := make([]byte, MinBlockSize)
	binary.LittleEndian.PutUint32(b, 12)
	binary.LittleEndian.PutUint16(b[4:], MinBlockSize)
	b[6], b[8] = 1, 'f'
	if tail := MinBlockSize - DotLen; room {
		binary.LittleEndian.PutUint16(b[4:], uint16(tail))
		b[tail+4], b[tail+7] = DotLen, 0xde
	}
	return b
}

// node returns a block of an index with a limit less than the entries that fit.
func node(less uint16) []byte {
	b := make([]byte, MinBlockSize)
	binary.LittleEndian.PutUint16(b[4:], MinBlockSize)
	binary.LittleEndian.PutUint16(b[IndexNodeEntries:],
		(MinBlockSize-IndexNodeEntries)/IndexEntryLen-less)
	b[IndexNodeEntries+2] = 3
	return b
}

// TestPrepared checks which changes of a block prepare metadata_csum.
func TestPrepared(t *testing.T) {
	zeros := make([]byte, MinBlockSize)
	for _, tc := range []struct {
		name        string
		before, now []byte
		want        bool
	}{
		{"a leaf gets room", leaf(false), leaf(true), true},
		{"an index gets room", node(0), node(1), true},
		{"the room goes", leaf(true), leaf(false), false},
		{"the room of an index goes", node(1), node(0), false},
		{"the room stays", leaf(true), leaf(true), false},
		{"an index loses more", node(0), node(2), false},
		{"a leaf takes the place of other content", zeros, leaf(true), false},
		{"an index takes the place of other content", zeros, node(1), false},
		{"a leaf is written again", leaf(false), leaf(false), false},
	} {
		feature, err := Prepared(tc.now, func() ([]byte, error) { return tc.before, nil })
		if (feature != nil) != tc.want || err != nil {
			t.Errorf("%s: %v, %v", tc.name, feature, err)
		}
	}
}
