package volume_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"fsward/interp/volume"
)

// sectorWith returns a disk of 1 MiB whose sector 0 has a signature and one partition.
func sectorWith(start, count uint32) memory {
	d := memory(make([]byte, mib))
	d[446+4] = 0x83
	binary.LittleEndian.PutUint32(d[446+8:], start)
	binary.LittleEndian.PutUint32(d[446+12:], count)
	d[510], d[511] = 0x55, 0xaa
	return d
}

// TestBootSectors checks that a sector with the signature of an MBR is a table only if it makes
// sense as one.
func TestBootSectors(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     memory
		alter func(d memory)
		want  string // paths of the volumes
	}{
		{"table", sectorWith(8, 100), nil, "[p1]"},
		{"no entries", sectorWith(8, 0), nil, "[]"},
		{"flag", sectorWith(8, 100), func(d memory) { d[446] = 0x12 }, "[]"},
		{"FAT", sectorWith(8, 100), func(d memory) {
			copy(d, "\xeb\x58\x90mkfs.fat\x00\x02\x01\x20\x00\x02\x00\x02\x00\x00\xf8")
		}, "[]"},
		{"hybrid image", sectorWith(0, 100), nil, "[]"},
		{"protective, no GPT", sectorWith(1, 100), func(d memory) { d[446+4] = 0xee }, "[]"},
		{"table and ext3", sectorWith(8, 100), func(d memory) { d[1080], d[1081] = 0x53, 0xef }, "[p1]"},
		{"boot code and ext3", sectorWith(8, 1<<30), func(d memory) { d[1080], d[1081] = 0x53, 0xef },
			"[]"},
		{"boot code and Btrfs", sectorWith(8, 1<<30), func(d memory) { copy(d[64<<10+64:], "_BHRfS_M") },
			"[]"},
		{"table beyond the disk", sectorWith(8, 1<<30), nil, "[p1]"},
		{"table and PV", sectorWith(8, 100), func(d memory) {
			copy(d[512:1024], withText([]byte(fuzzText), 0)[512:])
		}, "[p1]"},
	} {
		if c.alter != nil {
			c.alter(c.d)
		}
		m, err := volume.Read(c.d)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(labels(m)); got != c.want {
			t.Errorf("%s: volumes %s, want %s", c.name, got, c.want)
		}
	}
}

func labels(m *volume.Map) []string {
	paths := []string{}
	for _, v := range m.Volumes {
		if v.Path != "" {
			paths = append(paths, v.Path)
		}
	}
	return paths
}

// TestPlaces checks that each byte of a disk belongs to a table, a gap, boot code or a volume, and
// a write to one of the first concerns the map.
func TestPlaces(t *testing.T) {
	d := sectorWith(8, 100)
	m, err := volume.Read(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		addr     uint64
		what     volume.What
		concerns bool
	}{
		{0, volume.InBoot, true}, {439, volume.InBoot, true}, {440, volume.InTable, true},
		{511, volume.InTable, true}, {512, volume.InGap, false}, {8*512 - 1, volume.InGap, false},
		{8 * 512, volume.InVolume, true}, {12 * 512, volume.InVolume, false},
		{108*512 - 1, volume.InVolume, false}, {108 * 512, volume.InGap, false},
		{2 * mib, volume.InGap, false},
	} {
		if p := m.Place(c.addr); p.What != c.what {
			t.Errorf("byte %d is in a %s, want %s", c.addr, p.What, c.what)
		}
		if got := m.Concerns(c.addr, 1); got != c.concerns {
			t.Errorf("byte %d concerns the map: %v", c.addr, got)
		}
	}
	if !m.Concerns(512, 8*512) || m.Concerns(512, 7*512) || m.Concerns(0, 0) {
		t.Error("ranges that end before the volume, or have no bytes, concern the map")
	}
}

// benchmarkMap is the map of a PV with a linear and a striped LV.
func benchmarkMap(b *testing.B) *volume.Map {
	b.Helper()
	m, err := volume.Read(withText([]byte(fuzzText), 0))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func BenchmarkConcerns(b *testing.B) {
	m := benchmarkMap(b)
	for i := 0; b.Loop(); i++ {
		m.Concerns(96<<10+uint64(i)%(64<<10), 4096)
	}
}

func BenchmarkVolume(b *testing.B) {
	m := benchmarkMap(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Volume(64<<10 + uint64(i)%(64<<10))
	}
}
