package checkers

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"fsward/explore"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
)

// recoveredFake returns the records that the recovery of a fake file system performs.
func recoveredFake(s *crash.State) (string, error) {
	disk := s.Disk(0)
	var all bytes.Buffer
	for sector, seq := uint64(1), uint64(1); ; seq++ {
		first := make([]byte, 32)
		if _, err := disk.ReadAt(first, int64(sector*ramdisk.SectorSize)); err != nil {
			return "", err
		}
		var h header
		_ = binary.Read(bytes.NewReader(first), binary.LittleEndian, &h)
		if h.Magic != magic || h.Seq != seq || h.Len > 1<<16 {
			return hex.EncodeToString(all.Bytes()), nil
		}
		text := make([]byte, h.Len)
		if _, err := disk.ReadAt(text, int64(sector*ramdisk.SectorSize)+32); err != nil &&
			!errors.Is(err, io.EOF) {
			return "", err
		}
		if uint64(crc32.ChecksumIEEE(text)) != h.Sum {
			return hex.EncodeToString(all.Bytes()), nil
		}
		all.Write(text)
		sector += (32 + h.Len + ramdisk.SectorSize - 1) / ramdisk.SectorSize
	}
}

// TestRecollectionLosesNothing checks that a run in which crash states are checked by what was read
// from equal recovered disks visits the same states and judges the same crash states as a run that
// recovers each of them, and finds each planted bug in the same step.
func TestRecollectionLosesNothing(t *testing.T) {
	bugs := []plantedBug{{"", "sync", none, 2, ""}, {"", "reasonable", none, 2, ""}}
	for _, b := range plantedBugs {
		// These read what a correct recovery does not.
		reads := b.bug == "checksum not checked" || b.bug == "recovery skips holes"
		if (b.checker == "sync" || b.checker == "reasonable" || b.checker == "recovery") && !reads {
			bugs = append(bugs, b)
		}
	}
	for _, b := range bugs {
		t.Run(b.checker+" "+b.bug, func(t *testing.T) {
			t.Parallel()
			run := func(recovered func(*crash.State) (string, error)) explore.Summary {
				cfg, ctx := config(t, b.checker, b.bug, b.options, b.depth)
				cfg.Recovered = recovered
				if b.bug == "" {
					cfg.Stack.Checker.(interface{ core() *Core }).core().Limits.Files = 1
				}
				sum, err := explore.Run(ctx, cfg)
				if err != nil {
					t.Fatal(err)
				}
				return sum
			}
			each, once := run(nil), run(recoveredFake)
			if each.States != once.States || each.Runs != once.Runs ||
				each.CrashStates != once.CrashStates || len(each.Errors) != len(once.Errors) {
				t.Fatalf("each is recovered: %+v\nothers are recalled: %+v", each.Totals, once.Totals)
			}
			for i, e := range each.Errors {
				if o := once.Errors[i]; o.Kind != e.Kind || o.Property != e.Property ||
					o.Summary != e.Summary {
					t.Errorf("%s: %s %s: %s", e.Kind, o.Kind, o.Property, o.Summary)
				}
			}
			if b.bug == "" && once.Recovered >= each.Recovered {
				t.Errorf("%d recoveries, and %d of each state", once.Recovered, each.Recovered)
			}
			t.Logf("%d recoveries instead of %d", once.Recovered, each.Recovered)
		})
	}
}
