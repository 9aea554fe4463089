package btrfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
	"fsward/shareddata"
)

// TestLostFlush checks that a real kernel flushes before each superblock. The commit after a lost
// flush is refused.
func TestLostFlush(t *testing.T) {
	base := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	// All flushes between commit number lost and the next one are lost; -1: none.
	for _, lost := range []int{-1, 4, 11} {
		d := base.clone()
		f := follow(t, d)
		commits, rule := 0, ""
		eachWrite(t, log, func(w interp.Write) bool {
			obs := f.Observe(w)
			if len(obs.Violations) > 0 {
				rule = obs.Violations[0].Rule
				return false
			}
			d.apply(w)
			f.Settle(true)
			if obs.Point == interp.CommitPoint {
				commits++
			}
			return true
		}, func(seq uint64) {
			if commits != lost {
				f.Flushed(0, seq)
			}
		})
		switch {
		case lost < 0 && (rule != "" || commits != 21):
			t.Errorf("all flushes: %d commits, then %s", commits, rule)
		case lost >= 0 && (rule != "btrfs/flush" || commits != lost):
			t.Errorf("no flush after commit %d: %s after %d commits", lost, rule, commits)
		}
	}
}

// BenchmarkWrite measures Observe for writes that touch no superblock, which checks them against
// the last commit. It repeats the writes between two commits of a real recording without applying
// them. For comparison, it measures pwrite(2) of the same bytes to the page cache of a file.
func BenchmarkWrite(b *testing.B) {
	d := openDisk(b, shareddata.Path(b, "logs/btrfs-single-4k.base.img.zst"))
	f, err := btrfs.New(d)
	if err != nil {
		b.Fatal(err)
	}
	commits := 0
	var metadata, data []interp.Write
	eachWrite(b, shareddata.Path(b, "logs/btrfs-single-4k.log.zst"), func(w interp.Write) bool {
		if w.Off == primary || commits < 15 {
			if f.Observe(w).Point == interp.CommitPoint {
				commits++
			}
			d.apply(w)
			f.Settle(true)
		} else if w.Data != nil && w.Off != mirror {
			if fsidIn(w.Data) == fsidOf(d) {
				metadata = append(metadata, w)
			} else {
				data = append(data, w)
			}
		}
		return commits < 16
	}, func(seq uint64) { f.Flushed(0, seq) })
	for _, kind := range []struct {
		name   string
		writes []interp.Write
	}{{"metadata", metadata}, {"data", data}} {
		b.Run(kind.name, func(b *testing.B) {
			bytes := 0
			for _, w := range kind.writes {
				bytes += len(w.Data)
			}
			b.ReportMetric(float64(bytes)/float64(len(kind.writes)), "B/write")
			for i := range b.N {
				f.Observe(kind.writes[i%len(kind.writes)])
				f.Settle(false)
			}
			b.StopTimer()
			file, err := os.Create(filepath.Join(b.TempDir(), "peer"))
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			start := time.Now()
			for i := range b.N {
				w := kind.writes[i%len(kind.writes)]
				if _, err := file.WriteAt(w.Data, int64(w.Off)); err != nil {
					b.Fatal(err)
				}
			}
			peer := time.Since(start)
			b.ReportMetric(float64(peer.Nanoseconds())/float64(b.N), "ns/pwrite")
			b.ReportMetric(b.Elapsed().Seconds()/peer.Seconds(), "ratio")
		})
	}
}

// fsidOf returns the fsid of the file system on a disk.
func fsidOf(d *sparseDisk) [16]byte {
	b := make([]byte, ondisk.SuperSize)
	_, _ = d.ReadAt(b, primary)
	return fsidIn(b)
}
