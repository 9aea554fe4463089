package oracle

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/explore/crash"
)

// FuzzJudge writes anything over small file systems. What is found by difference, with pruning, is what is found of the whole.
func FuzzJudge(f *testing.F) {
	var disks []blocktap.Disk
	var oracles [][2]*Oracle // nothing settles in these logs, so that they know the same state for ever
	for _, args := range [][]string{{"mkfs.ext3", "-q"}, {"mkfs.btrfs", "-q", "-m", "single"}} {
		image := filepath.Join(f.TempDir(), "image")
		size := int64(4 << 20)
		if args[0] == "mkfs.btrfs" {
			size = 64 << 20
		}
		if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size)); err != nil {
			f.Fatal(err)
		}
		shell(f, append(args, image)...)
		d, err := blocktap.OpenImage(image)
		if err != nil {
			f.Fatal(err)
		}
		defer d.Close()
		disks = append(disks, d)
		var pair [2]*Oracle
		for i := range pair {
			if pair[i], err = New(context.Background(), "auto", d, Options{Whole: i == 1}); err != nil {
				f.Fatal(err)
			}
		}
		oracles = append(oracles, pair)
	}
	f.Add([]byte{0, 2, 0, 0, 10, 0, 255, 0})
	f.Add([]byte{0, 2, 0, 0, 96, 0, 6, 0, 0, 60, 1, 0, 3, 0, 9, 0})
	f.Add([]byte{1, 128, 0, 0, 72, 0, 7, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		which := in[0] % 2
		disk := disks[which]
		var events []crash.Event
		for id := uint64(1); len(in) >= 8 && id <= 6; id++ {
			// A sector as it is, with some bytes changed: 4 bytes say where, the others what.
			sector := uint64(binary.LittleEndian.Uint16(in[1:])) % (disk.Size() / crash.SectorSize)
			b := make([]byte, crash.SectorSize)
			if _, err := disk.ReadAt(b, int64(sector*crash.SectorSize)); err != nil {
				t.Fatal(err)
			}
			at := uint64(in[4]) | uint64(in[5]&1)<<8
			copy(b[at:], in[6:8])
			events = append(events, crash.Event{Kind: crash.Issued, Write: crash.Write{ID: id, Off: sector * crash.SectorSize, Len: crash.SectorSize, Data: b}})
			in = in[8:]
		}
		fast, slow := oracles[which][0], oracles[which][1]
		fast.memo.clear() // of another log
		n := 0
		_, err := crash.Each(disk, list(events), crash.Options{}, func(s *crash.State) error {
			v, err := fast.Judge(context.Background(), s)
			if err != nil {
				return err
			}
			if n++; n%5 != 1 {
				return nil
			}
			whole, err := slow.Judge(context.Background(), s)
			if whole.Outcome != v.Outcome && whole.Outcome != change.Undecided && v.Outcome != change.Undecided {
				t.Errorf("state %s: by difference %s; as a whole %s", s.ID(), v, whole)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
