package volume_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"fsward/interp"
	"fsward/interp/volume"
)

const gptEntries = 32 // the sector of the entries of gptOfPVs

// gptOfPVs returns a disk with a GPT of n partitions of four sectors, each a PV without metadata.
func gptOfPVs(n int) memory {
	first := gptEntries + n/4 // of the partitions
	last := first + 4*n
	d := memory(make([]byte, (last+1)*512))
	copy(d[446:], "\x00\x00\x02\x00\xee\xff\xff\xff\x01\x00\x00\x00\xff\xff\x00\x00")
	d[510], d[511] = 0x55, 0xaa
	copy(d[512:], "EFI PART\x00\x00\x01\x00\x5c\x00\x00\x00")
	for o, v := range map[int]int{24: 1, 32: last, 40: first, 48: last, 72: gptEntries, 80: n} {
		binary.LittleEndian.PutUint64(d[512+o:], uint64(v))
	}
	binary.LittleEndian.PutUint32(d[512+84:], 128)
	for i := range n {
		entry, at := d[gptEntries*512+128*i:], first+4*i
		entry[0] = 1
		binary.LittleEndian.PutUint64(entry[32:], uint64(at))
		binary.LittleEndian.PutUint64(entry[40:], uint64(at+3))
		label := d[at*512 : (at+1)*512]
		copy(label, "LABELONE")
		label[20] = 32
		copy(label[24:], fmt.Sprintf("LVM2 001%032d", i))
		binary.LittleEndian.PutUint32(label[16:], lvmCRC(label[20:]))
	}
	d.sealGPT(512)
	return d
}

// TestManyPVs checks that the work for a table, and for each write to it, does not grow with the
// square of the PVs on its partitions.
func TestManyPVs(t *testing.T) {
	const n = 32_000 // a GPT of Linux has at most 32,768
	d := gptOfPVs(n)
	within(t, "reading and writing the table", func() {
		tables, err := volume.NewTables(d, volume.ReadUse)
		if err != nil {
			t.Error(err)
			return
		}
		if got := len(tables.Map().Tables); got != n+1 {
			t.Errorf("%d tables, want the GPT and %d PVs", got, n)
		}
		const at = gptEntries * 512
		for range 5 {
			obs := tables.Observe(interp.Write{Off: at, Len: 512, Data: d[at : at+512]})
			if obs.Point != interp.NoPoint || obs.Unknown != nil || len(obs.Violations) > 0 {
				t.Errorf("a write that changes nothing: %+v", obs)
			}
			tables.Settle(true)
		}
	})
}
