package main

import (
	"bytes"
	"testing"
	"time"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// TestReason checks explainWrite: an earlier bio explains a write, and so does a buffer that was
// marked dirty while a bio to its sector was in flight.
func TestReason(t *testing.T) {
	e := newExplainer(1)
	sector := func(fill byte) []byte { return bytes.Repeat([]byte{fill}, ramdisk.SectorSize) }
	event := func(typ ekm.Type, at time.Duration, place uint64, fill byte) {
		r := &ekm.Record{
			Type: typ,
			Time: at,
			Dev:  1,
			Pos:  place * ramdisk.SectorSize,
			PFN:  place,
			Data: sector(fill),
		}
		if err := e.add(r); err != nil {
			t.Fatal(err)
		}
	}
	event(ekm.BufferDirty, 1, 8, 'a')
	event(ekm.BioData, 2, 8, 'a')
	event(ekm.BufferDirty, 3, 8, 'b')
	event(ekm.BufferJournal, 3, 8, 'j')
	event(ekm.BufferDirty, 3, 9, 'b')
	event(ekm.BioData, 9, 10, 'c')
	event(ekm.BioData, 2, 11, 'a')
	event(ekm.BufferDirty, 3, 11, 'd')
	event(ekm.BioData, 6, 11, 'd')
	for _, tc := range []struct {
		name  string
		place uint64
		fill  byte
		at    time.Duration
		want  string // "": no reason
	}{
		{"contents of its bio", 8, 'a', 4, byBuffer},
		{"before its bio", 8, 'a', 1, ""},
		{"changed in flight", 8, 'b', 4, byBufferInFlight},
		{"changed in flight, and written again", 11, 'd', 4, byBufferInFlight},
		{"marked dirty, no bio to the sector", 9, 'b', 4, ""},
		{"marked dirty, before the bio to the sector", 8, 'b', 1, ""},
		{"the journal's copy", 8, 'j', 4, ""},
		{"unknown contents", 8, 'x', 4, ""},
		{"a later bio", 10, 'c', 4, ""},
	} {
		e.sectors(tc.place*ramdisk.SectorSize, sector(tc.fill), func(c content) {
			reason, err := e.explainWrite(sectorWrite{c, tc.at})
			if reason != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s: %q, %v; want %q", tc.name, reason, err, tc.want)
			}
		})
	}
}
