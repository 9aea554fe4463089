package volume_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"fsward/interp"
	"fsward/interp/volume"
)

// fuzzDisk is the size of disks in fuzz targets, bytes.
const fuzzDisk = 256 << 10

// fuzz checks a disk with tables and, as a write, the other disk over it.
func fuzz(t *testing.T, before, after memory) {
	t.Helper()
	tables, err := volume.NewTables(before, volume.ReadUse)
	if err != nil {
		t.Fatal(err)
	}
	sound(t, tables.Map())
	const half = fuzzDisk / 2
	for _, off := range []uint64{half, 0} {
		obs := tables.Observe(interp.Write{Off: off, Len: half, Data: after[off : off+half]})
		if obs.Unknown != nil {
			t.Fatal(obs.Unknown)
		}
		sound(t, tables.Next())
		if obs.Txn != nil {
			for _, r := range obs.Txn.Records {
				_ = volume.Schema().RecordText(r, obs.Txn.Names)
				if ok, err := obs.View.Exists(r.Object); err != nil || ok == r.New.IsNull() && r.Field == 0 {
					t.Fatalf("%s: the view differs", volume.Schema().RecordText(r, obs.Txn.Names))
				}
			}
		}
		copy(before[off:], after[off:off+half])
		tables.Settle(true)
	}
	_ = volume.Identify(after)
	if _, err := volume.ImageWith(after, volume.ReadUse); err != nil {
		t.Fatal(err)
	}
}

// sound checks that a map gives each byte to one volume at most, and that volumes that can be read
// have all their bytes.
func sound(t *testing.T, m *volume.Map) {
	t.Helper()
	for addr := uint64(0); addr < fuzzDisk; {
		p := m.Place(addr)
		if p.Len == 0 {
			t.Fatalf("byte %d has a place without length: %+v", addr, p)
		}
		addr += p.Len
	}
	for v := range m.Volumes {
		x := &m.Volumes[v]
		if x.Unguarded != "" {
			continue
		}
		for off, steps := uint64(0), 0; off < x.Size && steps < 1000; steps++ {
			addr, n := m.Address(v, off)
			w, back, left, ok := m.Volume(addr)
			if n == 0 || addr+n > fuzzDisk || !ok || w != v || back != off || left != n {
				t.Fatalf("%s: byte %d is at %d (%d), which is byte %d of volume %d (%d, %v)", x.Path, off,
					addr, n, back, w, left, ok)
			}
			off += n
		}
	}
}

// FuzzMBR reads sectors as an MBR and a chain of logical partitions.
func FuzzMBR(f *testing.F) {
	entry := func(typ byte, start, n uint32) []byte {
		e := make([]byte, 16)
		e[4] = typ
		binary.LittleEndian.PutUint32(e[8:], start)
		binary.LittleEndian.PutUint32(e[12:], n)
		return e
	}
	f.Add(slices.Concat(entry(0x83, 8, 8), entry(5, 32, 200)), slices.Concat(entry(0x83, 2, 8),
		entry(5, 16, 20)), entry(0x83, 2, 4))
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		d := memory(make([]byte, fuzzDisk))
		for i, at := range []int{0, 32, 48} {
			s := d[at*512 : (at+1)*512]
			copy(s[446:510], [][]byte{first, second, third}[i])
			s[510], s[511] = 0x55, 0xaa
		}
		fuzz(t, memory(make([]byte, fuzzDisk)), d)
		fuzz(t, d, memory(make([]byte, fuzzDisk)))
	})
}

// FuzzGPT reads a header and entries whose checksums are right.
func FuzzGPT(f *testing.F) {
	header := make([]byte, 76)
	copy(header, "EFI PART\x00\x00\x01\x00\x5c\x00\x00\x00")
	const last = fuzzDisk/512 - 1
	for o, n := range map[int]uint64{24: 1, 32: last, 40: 34, 48: last - 33, 72: 2} {
		header = append(header, make([]byte, max(0, o+8-len(header)))...)
		binary.LittleEndian.PutUint64(header[o:], n)
	}
	header = append(header, 4, 0, 0, 0, 128, 0, 0, 0)
	entry := make([]byte, 128)
	entry[0], entry[32], entry[40] = 1, 40, 80
	f.Add(header, slices.Concat(entry, entry))
	f.Fuzz(func(t *testing.T, header, entries []byte) {
		d := memory(make([]byte, fuzzDisk))
		copy(d[446:], "\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00\xff\xff\x00\x00")
		d[510], d[511] = 0x55, 0xaa
		copy(d[512:1024], header)
		copy(d[1024:], entries)
		count, size := binary.LittleEndian.Uint32(d[512+80:]), binary.LittleEndian.Uint32(d[512+84:])
		at := binary.LittleEndian.Uint64(d[512+72:])
		if uint64(count)*uint64(size) < fuzzDisk/2 && at < fuzzDisk/1024 &&
			binary.LittleEndian.Uint32(d[512+12:]) == 92 {
			d.sealGPT(512)
		}
		fuzz(t, memory(make([]byte, fuzzDisk)), d)
		fuzz(t, d, memory(make([]byte, fuzzDisk)))
	})
}

// fuzzText is the metadata of a VG with the LVs of several kinds.
const fuzzText = `contents = "Text Format Volume Group"
vg { id = "a-b" seqno = 3 extent_size = 8
physical_volumes { pv0 { id = "0123456789abcdef0123456789abcdef" pe_start = 128 pe_count = 40 } }
logical_volumes {
one { id = "1" status = ["VISIBLE"] segment1 { start_extent = 0 extent_count = 4 type = "striped"
stripe_count = 1 stripes = ["pv0", 0] } }
two { id = "2" status = ["VISIBLE"] segment1 { start_extent = 0 extent_count = 4 type = "striped"
stripe_count = 2 stripe_size = 8 stripes = ["pv0", 4, "pv0", 6] } segment2 { start_extent = 4
extent_count = 1 type = "linear" stripes = ["pv0", 20] } }
three { id = "3" status = ["VISIBLE"] segment1 { start_extent = 0 extent_count = 4 type = "thin"
thin_pool = "one" } } # the end
} }
`

// withText returns a disk that is a PV whose metadata is a text, at a place of a ring.
func withText(text []byte, at int) memory { return pvWith(fuzzDisk, 60<<10, 1, text, at) }

// pvWith returns a disk of size bytes that is a PV with a ring of metadata. Its label names the
// ring as often as areas says; the ring has a text at a place.
func pvWith(size, ring, areas int, text []byte, at int) memory {
	d := memory(make([]byte, size))
	label := d[512:1024]
	copy(label, "LABELONE\x01")
	label[20] = 32
	copy(label[24:], "LVM2 0010123456789abcdef0123456789abcdef")
	fields := []uint64{uint64(size), 64 << 10, 0, 0, 0}
	for range areas {
		fields = append(fields, 4096, uint64(ring))
	}
	for i, n := range fields {
		binary.LittleEndian.PutUint64(label[64+8*i:], n)
	}
	binary.LittleEndian.PutUint32(label[16:], lvmCRC(label[20:]))
	area := d[4096 : 4096+ring]
	copy(area[4:], " LVM2 x[5A%r0N*>\x01")
	text = text[:min(len(text), ring-512)]
	at = 512 + at%(ring-512)
	for i, n := range []uint64{4096, uint64(ring), uint64(at), uint64(len(text))} {
		binary.LittleEndian.PutUint64(area[24+8*i:], n)
	}
	binary.LittleEndian.PutUint32(area[56:], lvmCRC(text))
	copy(area[512:], text[copy(area[at:], text):])
	binary.LittleEndian.PutUint32(area, lvmCRC(area[4:512]))
	return d
}

// FuzzLVM reads a text as the metadata of a VG, with right checksums around it.
func FuzzLVM(f *testing.F) {
	f.Add([]byte(fuzzText), uint16(0))
	f.Add([]byte(fuzzText), uint16(60<<10-600))
	f.Fuzz(func(t *testing.T, text []byte, at uint16) {
		d := withText(text, int(at))
		fuzz(t, withText([]byte(fuzzText), 100), d)
	})
}

// FuzzLabel reads bytes as the label of a PV and as the header of a metadata area.
func FuzzLabel(f *testing.F) {
	d := withText([]byte(fuzzText), 0)
	f.Add([]byte(d[520:1024]), []byte(d[4120:4608]))
	f.Fuzz(func(t *testing.T, label, area []byte) {
		d := withText([]byte(fuzzText), 0)
		copy(d[520:1024], label)
		copy(d[4120:4608], area)
		binary.LittleEndian.PutUint32(d[512+16:], lvmCRC(d[512+20:1024]))
		binary.LittleEndian.PutUint32(d[4096:], lvmCRC(d[4100:4608]))
		fuzz(t, memory(make([]byte, fuzzDisk)), d)
	})
}

// TestFuzzText checks that the LVs of the text for fuzzing are read.
func TestFuzzText(t *testing.T) {
	for _, at := range []int{0, 60<<10 - 600} {
		m, err := volume.Read(withText([]byte(fuzzText), at))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Volumes) != 3 || len(m.Faults) > 0 || m.Volumes[0].Unguarded != "" ||
			m.Volumes[1].Unguarded != "" ||
			m.Volumes[2].Unguarded != "thin LV" {
			t.Errorf("volumes %+v, faults %v", m.Volumes, m.Faults)
		}
	}
}
