package device_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"fsward/explore/device"
)

// A note is a record of the log in the example.
type note struct {
	seq  uint64
	text string
}

// A Reader reads the log of a module whose records a Format describes. Here a header has 16 bytes:
// the number of the record, and the length of its text. The Reader finds that record 2 is missing.
func ExampleNewReader() {
	format := device.Format[note]{
		Name: "note",
		Size: 16,
		Decode: func(b []byte) (*note, device.Header, error) {
			seq, n := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			if n > 80 {
				return nil, device.Header{}, fmt.Errorf("the text has %d bytes, want at most 80", n)
			}
			return &note{seq: seq}, device.Header{Seq: seq, Data: uint32(n)}, nil
		},
		Attach: func(r *note, data []byte) error {
			r.text = string(data)
			return nil
		},
	}
	const log = "\x01\x00\x00\x00\x00\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00" +
		"first\x00\x00\x00" + // padded to a multiple of 8 bytes
		"\x03\x00\x00\x00\x00\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00" +
		"third\x00\x00\x00"
	r := device.NewReader(strings.NewReader(log), &format)
	for {
		rec, err := r.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.seq, rec.text)
	}
	// Output:
	// 1 first
	// note log: after record 1: record 3 follows, want record 2
}
