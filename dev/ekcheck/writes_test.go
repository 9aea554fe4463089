package main

import (
	"bytes"
	"testing"
	"time"

	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// What the disk was given is explained by a bio that was seen before, or by a buffer that was marked dirty while a bio to its place was on its way.
func TestReason(t *testing.T) {
	e := newExplainer(1)
	sector := func(fill byte) []byte { return bytes.Repeat([]byte{fill}, ramdisk.SectorSize) }
	event := func(typ ekm.Type, at time.Duration, place uint64, fill byte) {
		r := &ekm.Record{Type: typ, Time: at, Dev: 1, Pos: place * ramdisk.SectorSize, PFN: place, Data: sector(fill)}
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
		want  string // "": it is not explained
	}{
		{"as it was in its bio", 8, 'a', 4, byBuffer},
		{"before its bio", 8, 'a', 1, ""},
		{"changed on its way", 8, 'b', 4, onItsWay},
		{"changed on its way, and written again", 11, 'd', 4, onItsWay},
		{"marked dirty, and no bio to there", 9, 'b', 4, ""},
		{"marked dirty before a bio to there", 8, 'b', 1, ""},
		{"the journal's copy", 8, 'j', 4, ""},
		{"contents of nowhere", 8, 'x', 4, ""},
		{"its bio came later", 10, 'c', 4, ""},
	} {
		e.sectors(tc.place*ramdisk.SectorSize, sector(tc.fill), func(c content) {
			if how, err := e.reason(written{c, tc.at}); how != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s: %q, %v; want %q", tc.name, how, err, tc.want)
			}
		})
	}
}
