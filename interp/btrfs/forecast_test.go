package btrfs_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/forecasttest"
	"fsward/shareddata"
)

// Commits are forecast while the guest flushes. What is said of each is the same as without,
// whether it comes as it was expected or not.
func TestForecast(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	for _, tc := range []struct {
		name    string
		stop    bool              // the forecast is stopped
		between func(root []byte) // changes a block of the root tree, which comes again after the forecast
		super   func(b []byte)    // changes the superblock
		holds   func(commits, foreseen int) bool
	}{
		{name: "as expected", holds: func(commits, foreseen int) bool { return commits == 21 && foreseen >= 20 }},
		{name: "stopped", stop: true, holds: func(commits, foreseen int) bool { return commits == 21 && foreseen == 0 }},
		{name: "written over meanwhile", between: func([]byte) {},
			holds: func(commits, foreseen int) bool { return commits == 21 && foreseen == 0 }},
		{name: "another root meanwhile", between: func(root []byte) { root[200] ^= 1 }, // its checksum is wrong
			holds: func(commits, foreseen int) bool { return commits == 1 && foreseen == 0 }},
		{name: "another superblock", super: func(b []byte) { b[120] += b[72] }, // bytes_used
			holds: func(commits, foreseen int) bool { return commits == 21 && foreseen == 0 }},
		{name: "other backup roots", super: func(b []byte) { b[2859]++ },
			holds: func(commits, foreseen int) bool { return commits == 21 && foreseen >= 20 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := base.clone()
			pair := &forecasttest.Pair{Plain: follow(t, d), Ahead: follow(t, d), Apply: d.apply}
			var root interp.Write
			super := make([]byte, 4096)
			_, _ = d.ReadAt(super, primary)
			nodeSize := int(binary.LittleEndian.Uint32(super[148:]))
			show := func(w interp.Write) bool {
				if (w.Off == primary || w.Off == mirror) && tc.super != nil {
					tc.super(w.Data)
					reseal(w.Data)
				}
				return pair.Show(t, w)
			}
			going := true
			eachWrite(t, log, func(w interp.Write) bool {
				for at := 0; w.Off != primary && w.Off != mirror && at+nodeSize <= len(w.Data); at += 4096 {
					if block := w.Data[at : at+nodeSize]; bytes.Equal(block[32:48], fsidOf(d)) && binary.LittleEndian.Uint64(block[88:]) == 1 {
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

// A forecast takes from the reserve what its own memory does not hold, and has given it back when
// the commit that came instead needs it, and when its own was settled.
func TestForecastGivesBack(t *testing.T) {
	const piece = 16 << 20 // what is taken at a time
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	for _, expected := range []bool{true, false} {
		d := base.clone()
		reserve := interp.NewMemoryPool(piece, nil)
		fs, err := btrfs.NewWithin(d, 0, interp.Limits{Memory: 64 << 10, Pool: reserve})
		if err != nil {
			t.Fatal(err)
		}
		free := func() bool {
			room := interp.NewMemoryBudget(1, reserve)
			defer room.Release()
			return room.Holds(piece)
		}
		commits, foreseen, taken := 0, 0, 0
		var forecast *change.Txn
		eachWrite(t, log, func(w interp.Write) bool {
			if (w.Off == primary || w.Off == mirror) && !expected {
				w.Data[120] += w.Data[72] // bytes_used
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
			if obs.Point == interp.CommitPoint && !free() {
				t.Errorf("the reserve is not whole after commit %d", commits)
			}
			return true
		}, func(seq uint64) {
			if fc := fs.Forecast(); fc != nil {
				p, ok := fc.Prepare()
				if !ok {
					t.Error("there was no room for a forecast")
				}
				forecast = p.Txn
				if !free() {
					taken++
				}
			}
			fs.Flushed(0, seq)
		})
		if commits != 21 || taken == 0 || expected != (foreseen > 0) {
			t.Errorf("%d commits, %d foreseen, the reserve was taken for %d forecasts", commits, foreseen, taken)
		}
	}
}
