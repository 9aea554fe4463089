package btrfs

import (
	"bytes"
	"errors"
	"testing"

	"fsward/interp"
)

var errUnreadable = errors.New("unreadable")

// An unreadableDisk returns an error for each read.
type unreadableDisk struct{ interp.Disk }

func (unreadableDisk) ReadAt([]byte, int64) (int, error) { return 0, errUnreadable }

// TestOverlayOfAnUnreadableDisk checks that what a write replaces as a whole is known although the
// disk cannot be read there. A superblock that could not be read once was not followed: the next
// one would be refused.
func TestOverlayOfAnUnreadableDisk(t *testing.T) {
	data := []byte("superblock")
	d := &overlay{Disk: unreadableDisk{}}
	for _, tc := range []struct {
		pending *interp.Write
		off     int64
		n       int
		want    string // "": an error
	}{
		{nil, 100, 4, ""},
		{&interp.Write{Off: 100, Len: 10, Data: data}, 100, 10, "superblock"},
		{&interp.Write{Off: 100, Len: 10, Data: data}, 105, 5, "block"},
		{&interp.Write{Off: 100, Len: 10, Discard: true}, 106, 4, "\x00\x00\x00\x00"},
		{&interp.Write{Off: 100, Len: 10, Data: data}, 99, 5, ""},
		{&interp.Write{Off: 100, Len: 10, Data: data}, 105, 6, ""},
		{&interp.Write{Off: 100, Len: 10, Data: data}, -1, 4, ""},
	} {
		d.pending = tc.pending
		got := bytes.Repeat([]byte{'x'}, tc.n)
		n, err := d.ReadAt(got, tc.off)
		if tc.want == "" {
			if !errors.Is(err, errUnreadable) {
				t.Errorf("%d bytes at %d: %d, %v", tc.n, tc.off, n, err)
			}
		} else if err != nil || string(got[:n]) != tc.want {
			t.Errorf("%d bytes at %d: %q, %v; want %q", tc.n, tc.off, got[:n], err, tc.want)
		}
	}
}
