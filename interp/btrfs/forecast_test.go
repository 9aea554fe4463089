package btrfs_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/forecasttest"
	"fsward/shareddata"
)

// forecastCases are the changes that the guest makes after a forecast, and the number of forecasts
// that come true.
var forecastCases = []struct {
	name    string
	stop    bool              // stop each forecast
	between func(root []byte) // alters a block of the root tree, to be written again after a forecast
	super   func(b []byte)    // alters the superblock
	holds   func(commits, foreseen int) bool
}{
	{name: "as expected", holds: allForeseen},
	{name: "stopped", stop: true, holds: noneForeseen},
	{name: "written over meanwhile", between: func([]byte) {}, holds: noneForeseen},
	{
		name:    "another root meanwhile",
		between: func(root []byte) { root[ondisk.HeaderSize+99] ^= 1 }, // breaks the checksum
		holds:   func(commits, foreseen int) bool { return commits == 1 && foreseen == 0 },
	},
	{name: "another superblock", super: changeBytesUsed, holds: noneForeseen},
	{
		name:  "other backup roots",
		super: func(b []byte) { b[ondisk.SuperSuperRootsAt]++ },
		holds: allForeseen,
	},
}

// TestForecast checks that with forecasts, each commit gets the same observation as without,
// whether or not it comes as expected.
func TestForecast(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	for _, tc := range forecastCases {
		t.Run(tc.name, func(t *testing.T) {
			d := base.clone()
			pair := &forecasttest.Pair{Plain: follow(t, d), Ahead: follow(t, d), Apply: d.apply}
			var root interp.Write
			super := make([]byte, 4096)
			_, _ = d.ReadAt(super, primary)
			nodeSize := int(get32(super, ondisk.SuperNodesizeAt))
			show := func(w interp.Write) bool {
				if isSuper(w) && tc.super != nil {
					tc.super(w.Data)
					reseal(w.Data)
				}
				return pair.Show(t, w)
			}
			going := true
			eachWrite(t, log, func(w interp.Write) bool {
				for at := 0; !isSuper(w) && at+nodeSize <= len(w.Data); at += pageSize {
					if block := w.Data[at : at+nodeSize]; ofRootTree(d, block) {
						root = interp.Write{Off: w.Off + uint64(at), Len: uint64(nodeSize), Data: block}
					}
				}
				going = going && show(w)
				return going
			}, func(seq uint64) {
				if made, ok := pair.Forecast(tc.stop); made {
					if ok == tc.stop {
						t.Errorf("prepared: %t", ok)
					}
					if tc.between != nil {
						again := root
						again.Data = bytes.Clone(root.Data)
						tc.between(again.Data)
						going = going && show(again)
					}
				}
				pair.Flushed(seq)
			})
			if !tc.holds(pair.Commits, pair.Foreseen) {
				t.Errorf("%d commits, %d of them foreseen", pair.Commits, pair.Foreseen)
			}
		})
	}
}

// TestForecastOfAFault checks that a commit with a fault is judged once: the superblock gets the
// fault that the forecast has found, which is the one that is found without a forecast. A
// superblock that leads elsewhere does not get it.
func TestForecastOfAFault(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	for _, expected := range []bool{true, false} {
		d := base.clone()
		plain, ahead := follow(t, d), follow(t, d)
		forecasts, judged := 0, false
		eachWrite(t, log, func(w interp.Write) bool {
			for at := 0; !isSuper(w) && at+pageSize <= len(w.Data); at += pageSize {
				if block := w.Data[at:]; ofRootTree(d, block) {
					block[ondisk.HeaderSize+99] ^= 1 // breaks the checksum
				}
			}
			if isSuper(w) && !expected {
				w.Data[ondisk.SuperCacheGenerationAt] ^= 1
				reseal(w.Data)
			}
			want, got := plain.Observe(w), ahead.Observe(w)
			if d := cmp.Diff(want.Violations, got.Violations); d != "" {
				t.Errorf("write at %d, -without a forecast +with one:\n%s", w.Off, d)
			}
			if judged = got.Point == interp.CommitPoint; judged {
				if len(got.Violations) == 0 || ahead.CameTrue() != expected || forecasts == 0 {
					t.Errorf("%d violations after %d forecasts; one came true: %t, want %t",
						len(got.Violations), forecasts, ahead.CameTrue(), expected)
				}
			}
			d.apply(w)
			plain.Settle(true)
			ahead.Settle(true)
			return !judged
		}, func(seq uint64) {
			if fc := ahead.Forecast(); fc != nil {
				forecasts++
				_, ok := fc.Prepare()
				fc.Judged()
				if ok {
					t.Error("the forecast of a commit with a fault is sound")
				}
			}
			plain.Flushed(0, seq)
			ahead.Flushed(0, seq)
		})
		if !judged {
			t.Error("no commit was judged")
		}
	}
}

func allForeseen(commits, foreseen int) bool  { return commits == 21 && foreseen >= 20 }
func noneForeseen(commits, foreseen int) bool { return commits == 21 && foreseen == 0 }

// changeBytesUsed adds the generation to bytes_used of a superblock.
func changeBytesUsed(b []byte) { b[ondisk.SuperBytesUsedAt] += b[ondisk.SuperGenerationAt] }

// isSuper reports whether a write goes to a superblock.
func isSuper(w interp.Write) bool { return w.Off == primary || w.Off == mirror }

// ofRootTree reports whether a block belongs to the root tree of the file system on a disk.
func ofRootTree(d *sparseDisk, block []byte) bool {
	return fsidIn(block) == fsidOf(d) && get64(block, ondisk.HeaderOwnerAt) == ondisk.RootTreeID
}

// poolPiece is the unit in which a pool gives memory, bytes.
const poolPiece = 16 << 20

// isWhole reports whether nobody holds memory of a pool of one piece.
func isWhole(pool *interp.MemoryPool) bool {
	budget := interp.NewMemoryBudget(1, pool)
	defer budget.Release()
	return budget.Holds(poolPiece)
}

// TestForecastGivesBack checks that a forecast takes memory from the pool if its own budget does
// not suffice. It returns the memory before a commit that came instead needs it, or when its own
// commit is settled.
func TestForecastGivesBack(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	for _, expected := range []bool{true, false} {
		d := base.clone()
		reserve := interp.NewMemoryPool(poolPiece, nil)
		fs, err := btrfs.NewWithin(d, 0, interp.Limits{Memory: 64 << 10, Pool: reserve})
		if err != nil {
			t.Fatal(err)
		}
		commits, foreseen, taken := 0, 0, 0
		var forecast *change.Txn
		eachWrite(t, log, func(w interp.Write) bool {
			if isSuper(w) && !expected {
				changeBytesUsed(w.Data)
				reseal(w.Data)
			}
			obs := fs.Observe(w)
			if obs.Unknown != nil || len(obs.Violations) > 0 {
				t.Fatalf("write at %d: %v %v", w.Off, obs.Unknown, obs.Violations)
			}
			if obs.Point == interp.CommitPoint {
				commits++
				if obs.Txn == forecast {
					foreseen++
				}
			}
			d.apply(w)
			fs.Settle(true)
			if !expected && obs.Point == interp.CommitPoint && forecast != nil && forecast.Records != nil {
				t.Errorf("%d records of a dropped forecast are held", len(forecast.Records))
			}
			if obs.Point == interp.CommitPoint && !isWhole(reserve) {
				t.Errorf("the pool has not got all its memory back after commit %d", commits)
			}
			return true
		}, func(seq uint64) {
			if fc := fs.Forecast(); fc != nil {
				p, ok := fc.Prepare()
				fc.Judged()
				if !ok {
					t.Error("the memory does not suffice for a forecast")
				}
				forecast = p.Txn
				if !isWhole(reserve) {
					taken++
				}
			}
			fs.Flushed(0, seq)
		})
		if commits != 21 || taken == 0 || expected != (foreseen > 0) {
			t.Errorf("%d commits, %d foreseen, %d forecasts took memory from the pool",
				commits, foreseen, taken)
		}
	}
}
