package volume_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"fsward/change"
	"fsward/interp/volume"
)

// These tests have tables with few bytes that once made fsward work or remember without bound.

// within fails the test if f takes more than a minute: it should take less than a second.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s takes more than a minute", what)
	}
}

// vgText returns the metadata of a VG with logical volumes.
func vgText(lvs string) []byte {
	return fmt.Appendf(nil, `contents = "Text Format Volume Group"
vg { id = "a" seqno = 3 extent_size = 1
physical_volumes { pv0 { id = "0123456789abcdef0123456789abcdef" pe_start = 128 pe_count = 256 } }
logical_volumes { %s } }
`, lvs)
}

// TestSameNames checks that volumes of one name have short identifiers of their own.
func TestSameNames(t *testing.T) {
	const volumes = 2000
	text := vgText(strings.Repeat(`a{status=["VISIBLE"]}`, volumes))
	obs, err := volume.ImageWith(withText(text, 0), volume.ReadUse)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[change.Object]bool{}
	for _, r := range obs.Txn.Records {
		if r.Field != change.FieldObject || volume.Schema().Kinds[r.Object.Kind].Name != "volume" {
			continue
		}
		labels[r.Object] = true
		if text := volume.Schema().RecordText(r, obs.Txn.Names); len(text) > 100 {
			t.Fatalf("an identifier of %d bytes: %.100s…", len(text), text)
		}
	}
	if len(labels) != volumes {
		t.Errorf("%d identifiers of %d volumes", len(labels), volumes)
	}
}

// TestManyUses checks that the work for the references of a segment is linear.
func TestManyUses(t *testing.T) {
	text := vgText(`a { segment1 { start_extent = 0 extent_count = 1 type = "snapshot" ` +
		strings.Repeat(`merging_store="b" `, 200_000) + `origin = "a" } }`)
	const ring = 4 << 20
	d := pvWith(8<<20, ring, 1, text, 0)
	within(t, "reading references", func() {
		m, err := volume.Read(d)
		if err != nil || len(m.Faults) > 0 {
			t.Errorf("faults %v, %v", m.Faults, err)
		}
	})
}

// countedDisk counts the bytes that are read from a disk.
type countedDisk struct {
	memory
	bytes int
}

func (d *countedDisk) ReadAt(p []byte, off int64) (int, error) {
	d.bytes += len(p)
	return d.memory.ReadAt(p, off)
}

// TestManyAreas checks that the texts that one label can name are bounded together.
func TestManyAreas(t *testing.T) {
	const ring = 4<<20 + 512
	text := append(vgText(""), bytes.Repeat([]byte(" "), 4<<20-1000)...)
	d := &countedDisk{memory: pvWith(8<<20, ring, 24, text, 0)}
	m, err := volume.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	if d.bytes > 20<<20 {
		t.Errorf("%d bytes of the disk were read", d.bytes)
	}
	if len(m.Faults) == 0 {
		t.Error("no fault says that metadata was left out")
	}
}

// TestTinyChunks checks that volumes of many chunks are compared by their segments.
func TestTinyChunks(t *testing.T) {
	const chunk, size = 512, 1 << 60
	v := volume.Volume{Size: size, Segments: []volume.Segment{
		{Len: size, Chunk: chunk, Stripes: []uint64{0, size}}}}
	w := v
	within(t, "comparing two volumes", func() {
		if !v.Begins(&w) {
			t.Error("a volume is not at its own place")
		}
	})
	w.Segments = []volume.Segment{{Len: size, Chunk: chunk, Stripes: []uint64{0, size + chunk}}}
	if v.Begins(&w) {
		t.Error("volumes at different places are at the same one")
	}
	w.Segments = []volume.Segment{{Start: chunk, Len: size - chunk, Stripes: []uint64{0}}}
	if v.Begins(&w) || w.Begins(&v) {
		t.Error("a volume without its first byte is at the place of a whole one")
	}
}
