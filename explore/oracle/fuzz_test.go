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

// A fuzzDisk is a small file system with an oracle that compares and prunes and one that reads
// whole file systems. No write becomes durable in these logs, so that the base state stays the
// same.
type fuzzDisk struct {
	disk        blocktap.Disk
	fast, whole *Oracle
}

func newFuzzDisk(f *testing.F, size int64, mkfs ...string) (d fuzzDisk) {
	f.Helper()
	image := filepath.Join(f.TempDir(), "image")
	err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size))
	if err != nil {
		f.Fatal(err)
	}
	shell(f, append(mkfs, image)...)
	if d.disk, err = blocktap.OpenImage(image); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = d.disk.Close() })
	if d.fast, err = NewMaker(Options{}).New(context.Background(), "auto", d.disk); err != nil {
		f.Fatal(err)
	}
	whole := Options{Whole: true}
	if d.whole, err = NewMaker(whole).New(context.Background(), "auto", d.disk); err != nil {
		f.Fatal(err)
	}
	return d
}

// log makes a log of at most six writes of one sector each. Of eight bytes of input, four choose
// two adjacent bytes of the disk, and the last two are their new values.
func (d fuzzDisk) log(t *testing.T, in []byte) (events []crash.Event) {
	t.Helper()
	for id := uint64(1); len(in) >= 8 && id <= 6; id++ {
		sector := uint64(binary.LittleEndian.Uint16(in[1:])) % (d.disk.Size() / crash.SectorSize)
		off := sector * crash.SectorSize
		b := make([]byte, crash.SectorSize)
		if _, err := d.disk.ReadAt(b, int64(off)); err != nil {
			t.Fatal(err)
		}
		at := uint64(in[4]) | uint64(in[5]&1)<<8
		copy(b[at:], in[6:8])
		w := crash.Write{ID: id, Off: off, Len: crash.SectorSize, Data: b}
		events = append(events, crash.Event{Kind: crash.Issued, Write: w})
		in = in[8:]
	}
	return events
}

// FuzzJudge writes arbitrary bytes over small file systems. The verdict by difference, with
// pruning, must be the verdict about the whole file system. The last commit is read, or it is not
// known.
func FuzzJudge(f *testing.F) {
	disks := []fuzzDisk{
		newFuzzDisk(f, 4<<20, "mkfs.ext3", "-q"),
		newFuzzDisk(f, 64<<20, "mkfs.btrfs", "-q", "-m", "single"),
	}
	f.Add([]byte{0, 2, 0, 0, 10, 0, 255, 0})
	f.Add([]byte{0, 2, 0, 0, 96, 0, 6, 0, 0, 60, 1, 0, 3, 0, 9, 0})
	f.Add([]byte{1, 128, 0, 0, 72, 0, 7, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		d := disks[in[0]%2]
		d.fast.memo.clear() // it is of another log
		n := 0
		log := list(d.log(t, in))
		_, err := crash.Each(d.disk, log, crash.Options{}, func(s *crash.State) error {
			v, err := d.fast.Judge(context.Background(), s)
			if err != nil {
				return err
			}
			if n++; n%5 != 1 {
				return nil
			}
			if c, err := ReadCommitted(s.Disk(0), d.fast.FS()); err == nil && len(c.Entries) == 0 {
				t.Errorf("state %s: the last commit has no root", s.ID())
			}
			whole, err := d.whole.Judge(context.Background(), s)
			if whole.Outcome != v.Outcome &&
				whole.Outcome != change.Undecided && v.Outcome != change.Undecided {
				t.Errorf("state %s: by difference %s; as a whole %s", s.ID(), v, whole)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
