package btrfs

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FuzzUnpack: no compressed extent makes the decompressors panic, or write more than its length.
func FuzzUnpack(f *testing.F) {
	text := []byte(strings.Repeat("text ", 1000))
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(text)
	_ = w.Close()
	f.Add(uint8(1), z.Bytes(), uint32(len(text)))
	e, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(3), e.EncodeAll(text, nil), uint32(len(text)))
	f.Add(uint8(2), segments([]byte{17 + 4, 't', 'e', 'x', 't', 17, 0, 0}), uint32(4))
	f.Add(uint8(2), segments(nil), uint32(4096))
	f.Add(uint8(2), []byte{0xff, 0xff, 0xff, 0xff}, uint32(4096))
	fs := &files{&state{}}
	fs.state.rules.sectorSize = 4096
	f.Fuzz(func(t *testing.T, compression uint8, packed []byte, length uint32) {
		if length > maxCompressed || len(packed) > maxCompressed {
			return
		}
		plain := make([]byte, length, length+8)
		guard := plain[length : length+8]
		_ = fs.unpack(compression, packed, plain)
		if !bytes.Equal(guard, make([]byte, 8)) {
			t.Errorf("wrote past the end: % x", guard)
		}
	})
}

// segments is the form of LZO in Btrfs, with one segment.
func segments(segment []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(segment)+2*lzoHead))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(segment)))
	return append(out, segment...)
}
