package guard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp"
)

// heap returns the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heapSettled returns heap once that is at most most bytes, or after a while: a write may still be
// in progress.
func heapSettled(most uint64) uint64 {
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if now := heap(); now <= most || time.Now().After(until) {
			return now
		}
	}
}

// peak returns the largest heap and the largest process while f runs, in bytes.
func peak(t *testing.T, f func()) (inHeap, resident uint64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			inHeap, resident = max(inHeap, m.HeapAlloc), max(resident, rss(t))
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return inHeap, resident
}

func rss(t *testing.T) uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Error(err)
		return 0
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		t.Error(err)
	}
	return resident * uint64(os.Getpagesize())
}

// largest returns the number of change records of the largest commit.
func largest(r *guardtest.Rig) int {
	most := 0
	for _, ev := range r.Seen.Events() {
		most = max(most, ev.Records)
	}
	return most
}

// untilWhole runs a script until whole reports that one commit has all of its changes, at most five
// times. A sync(2) of another process on this machine splits a commit.
func untilWhole(r *guardtest.Rig, script string, whole func() bool) {
	for range 5 {
		if _, _ = r.Run(context.Background(), script); whole() {
			return
		}
	}
}

// manyFiles makes 8000 new files in one commit. It can run again.
const manyFiles = `rm -rf d; sync -f .; mkdir d
	i=0; while [ $i -lt 8000 ]; do : > d/file$i; i=$((i + 1)); done; sync -f .`

// tooManyFiles makes twice as many.
var tooManyFiles = strings.ReplaceAll(manyFiles, "8000", "16000")

// TestMemoryWithoutCommits checks that a guest that writes blocks that look like metadata and never
// commits leaves nothing in memory.
func TestMemoryWithoutCommits(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			image := populated(t, fs, 1<<30, 3, 20)
			r := guardtest.Attach(t, image, nil)
			r.MustMount(fs)
			r.MustRun("echo one > one; sync -f .")
			device := r.Daemon.Device("disk")
			disk := device.Disk()
			// A block that a commit could lead to, written over and over to free space at the end of the
			// disk.
			block := make([]byte, 16384)
			if _, err := disk.ReadAt(block, map[string]int64{"btrfs": 65536, "ext3": 0}[fs]); err != nil {
				t.Fatal(err)
			}
			before := heap()
			size := disk.Size()
			for i := range uint64(100_000) {
				off := size/2 + i*16384%(size/2-1<<20)
				if err := device.Do(context.Background(),
					&blocktap.Request{Op: blocktap.OpWrite, Off: off, Len: 16384, Data: block}); err != nil &&
					!errors.Is(err, blocktap.ErrRefused) {
					t.Fatal(err)
				}
			}
			after := heapSettled(before + 8<<20)
			t.Logf("1.6 GB of writes: the heap has %d KiB, before %d KiB", after>>10, before>>10)
			if after > before+8<<20 {
				t.Errorf("the heap grew from %d to %d bytes", before, after)
			}
		})
	}
}

// TestMemoryOfALargeCommit checks that a commit with more change records than memory allows is
// judged part by part, and that it holds.
func TestMemoryOfALargeCommit(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, fs, 1<<30), func(c *guard.Config) {
				c.Memory = memory.Limits{PerDisk: memory.Min, NoReserve: true}
			})
			r.MustMount(fs, "commit=300")
			for _, script := range []string{
				"i=0; while [ $i -lt 8000 ]; do : > file$i; i=$((i + 1)); done; sync -f .",
				"mkdir d; mv file* d; sync -f .",
				"rm -r d; sync -f .",
			} {
				r.MustRun(script)
			}
			if uint64(largest(r))*interp.RecordBytes < memory.Min/2 {
				t.Errorf("the largest commit had %d records: they fit into memory", largest(r))
			}
			r.NoAlarm()
		})
	}
}

// TestMemoryOfALongList checks that a commit that is judged part by part holds, though it has more
// changes of one kind than such a judgment keeps (16,384), and a rule looks for some of them: names
// that lead to a directory that is moved, and the freed extents of a quota group.
func TestMemoryOfALongList(t *testing.T) {
	const files = 18_000
	for fs, scripts := range map[string][2]string{
		"ext3": {`mkdir d e g; perl -e 'for (1..$ARGV[0]) { open $f, ">", "d/$_" or die $! }' $N`,
			`perl -e 'for (1..$ARGV[0]) { rename "d/$_", "e/$_" or die $! }' $N; mv g e/g`},
		"btrfs": {`btrfs quota enable .; mkdir d; perl -e 'for (1..$ARGV[0]) {
			open $f, ">", "d/$_" or die $!; print $f "x" x 5000 }' $N`, `rm -r d`},
	} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.Mkfs(t, fs, 1<<30), func(c *guard.Config) {
				c.Memory = memory.Limits{PerDisk: memory.Min, NoReserve: true}
			})
			r.MustMount(fs, "commit=300")
			for _, script := range scripts {
				r.MustRun(fmt.Sprintf("N=%d; %s; sync -f .", files, script))
			}
			if largest(r) < 5*files {
				t.Errorf("the largest commit had %d records for %d files", largest(r), files)
			}
			r.NoAlarm()
		})
	}
}

// TestStepsOfReferencesInAStream checks that a commit that is judged part by part takes steps in
// proportion to the references to one extent, and not to their square.
func TestStepsOfReferencesInAStream(t *testing.T) {
	var perRecord []float64
	for _, n := range []int{3000, 9000} {
		r := guardtest.Attach(t, guardtest.Mkfs(t, "btrfs", 1<<30), func(c *guard.Config) {
			c.Memory = memory.Limits{PerDisk: memory.Min, NoReserve: true}
		})
		r.MustMount("btrfs", "commit=300")
		r.MustRun("head -c 4096 /dev/urandom > one; sync -f .")
		r.MustRun(fmt.Sprintf(`perl -e 'open $f, "<", "one" or die; open $g, "+>", "all" or die;
			ioctl($g, 0x4020940d, pack("q<Q<Q<Q<", fileno $f, 0, 4096, 4096 * $_)) or die $!
			for 1..%d'; sync -f .`, n)) // FICLONERANGE
		r.NoAlarm()
		largest := &guard.Event{}
		for _, ev := range r.Seen.Events() {
			if ev.Records > largest.Records {
				largest = ev
			}
		}
		if uint64(largest.Records)*interp.RecordBytes < memory.Min/2 {
			t.Errorf("the largest commit had %d records: they fit into memory", largest.Records)
		}
		perRecord = append(perRecord, float64(largest.Steps)/float64(largest.Records))
		r.End()
	}
	t.Logf("%.1f steps a record", perRecord)
	if perRecord[1] > 1.5*perRecord[0] {
		t.Errorf("%.1f steps a record: they grow with the number of references", perRecord)
	}
}

// TestMemoryOfATooLargeCommit checks that a commit whose changed blocks cannot be listed in memory
// is undecided, and so refused: the disk does not change, and the memory is released.
func TestMemoryOfATooLargeCommit(t *testing.T) {
	image := guardtest.Mkfs(t, "ext3", 1<<30)
	r := guardtest.Attach(t, image, func(c *guard.Config) {
		c.Memory = memory.Limits{PerDisk: 1 << 20, NoReserve: true}
	})
	r.MustMount("ext3", "commit=300")
	r.MustRun("echo one > one; sync -f .")
	before := heap()
	refused := func() bool {
		return slices.ContainsFunc(r.Seen.Events(),
			func(ev *guard.Event) bool { return ev.Action == guard.Refused })
	}
	inHeap, _ := peak(t, func() { untilWhole(r, tooManyFiles, refused) })
	for _, ev := range r.Seen.Events() {
		if ev.Action == guard.Refused {
			if ev.Outcome != change.Undecided || !strings.Contains(guardtest.TextOf(ev), "MiB of memory") {
				t.Errorf("refused for another reason: %s", guardtest.TextOf(ev))
			}
		}
	}
	if !refused() {
		t.Fatalf("nothing was refused: %d commits", r.NoAlarm())
	}
	after := heapSettled(before + memory.Min/2)
	t.Logf("heap: %d KiB before, %d KiB at most, %d KiB after", before>>10, inHeap>>10, after>>10)
	if after > before+memory.Min/2 {
		t.Errorf("the heap keeps %d bytes more than before the commit", after-before)
	}
	if got := r.MustRun("cat one"); got != "one\n" {
		t.Errorf("what was committed before reads %q", got)
	}
	r.End()
	guardtest.RecoverImage(t, "ext3", image)
	guardtest.MustBeClean(t, "ext3", image)
}

// TestMemoryOfTheReserve checks that the same load passes if the reserve adds the missing memory,
// and that the reserve is whole afterwards.
func TestMemoryOfTheReserve(t *testing.T) {
	r := guardtest.Attach(t, guardtest.Mkfs(t, "btrfs", 1<<30),
		func(c *guard.Config) { c.Memory = memory.Limits{PerDisk: memory.Min} })
	r.MustMount("btrfs", "commit=300")
	large := func() bool { return uint64(largest(r))*interp.RecordBytes >= memory.Min/2 }
	untilWhole(r, manyFiles, large)
	if !large() {
		t.Errorf("the largest commit had %d records: they do not need the reserve", largest(r))
	}
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.NoAlarm()
	whole := interp.NewMemoryBudget(1, r.Daemon.Pool())
	if !whole.Holds(memory.DefaultReserve) {
		t.Error("the reserve is not whole again")
	}
	whole.Release()
}

// TestMemoryOfABaselineGivesWay checks that a check of the baseline that holds the reserve releases
// it for a commit.
func TestMemoryOfABaselineGivesWay(t *testing.T) {
	r := guardtest.Attach(t, populated(t, "btrfs", 512<<20, 20, 100), func(c *guard.Config) {
		c.Memory = memory.Limits{PerDisk: memory.Min, Reserve: 64 << 20}
		c.Verify = true
	})
	r.MustMount("btrfs")
	r.MustRun("i=0; while [ $i -lt 12000 ]; do : > file$i; i=$((i + 1)); done; sync -f .")
	if ev := baselineOf(r, 3*time.Minute); ev.Outcome == change.Violated {
		t.Errorf("the baseline: %s", guardtest.TextOf(ev))
	}
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindCommit && ev.Outcome != change.Holds {
			t.Errorf("a commit had to wait for the check: %s", guardtest.TextOf(ev))
		}
	}
}

// TestMemoryOfALargeBaseline checks that beyond its memory the check of a baseline checks part by
// part, and still finds violations of structure and rules.
func TestMemoryOfALargeBaseline(t *testing.T) {
	small := func(c *guard.Config) {
		c.Memory, c.Verify = memory.Limits{PerDisk: memory.Min, NoReserve: true}, true
	}
	alter := func(specs ...offline.CorruptConfig) func(*testing.T, string) {
		return func(t *testing.T, image string) {
			for _, spec := range specs {
				if _, err := offline.CorruptImages([]string{image}, spec); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	byRule := offline.CorruptConfig{FS: "btrfs", Spec: "inode_item.nlink=2@mode=0o100644", Pick: 1950}
	byExt3 := offline.CorruptConfig{FS: "ext3", Spec: "inode.links_count=2@kind=file", Pick: 1900}
	inStructure := offline.CorruptConfig{FS: "btrfs", Spec: "extent_data.type=9", Pick: 1900}
	for _, tc := range []struct {
		fs      string
		plant   func(t *testing.T, image string)
		outcome change.Outcome
		says    string
	}{
		{"btrfs", alter(), change.Holds, ""},
		{"btrfs", alter(byRule), change.Violated, "btrfs/14"},
		{"btrfs", alter(byRule, inStructure), change.Violated, "btrfs/item"},
		{"ext3", alter(), change.Holds, ""},
		{"ext3", alter(byExt3), change.Violated, "ext3/7"},
	} {
		image := populated(t, tc.fs, 512<<20, 20, 100)
		tc.plant(t, image)
		r := guardtest.Attach(t, image, small)
		ev := baselineOf(r, 2*time.Minute)
		if ev.Outcome != tc.outcome || !strings.Contains(guardtest.TextOf(ev), tc.says) {
			t.Errorf("%s, want %s %s: %s", tc.fs, tc.outcome, tc.says, guardtest.TextOf(ev))
		}
		r.End()
	}
}

// TestMemoryOfManyLogs checks that thousands of small logs with a few commits do not grow the heap.
func TestMemoryOfManyLogs(t *testing.T) {
	r := guardtest.Attach(t, guardtest.Mkfs(t, "btrfs", 512<<20),
		func(c *guard.Config) { c.Memory = memory.Limits{PerDisk: memory.Min, NoReserve: true} })
	r.MustMount("btrfs")
	const round = `
		for i in $(seq 0 149); do echo $i >> f$((i % 20)); sync f$((i % 20)); done
		sync -f .`
	r.MustRun(round)
	before := heap()
	for range 6 {
		r.MustRun(round)
	}
	after, logs := heapSettled(before+memory.Min/2), 0
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindLogCommit {
			logs++
		}
	}
	r.NoAlarm()
	t.Logf("%d log commits: the heap has %d KiB, before %d KiB", logs, after>>10, before>>10)
	if logs < 500 {
		t.Errorf("%d log commits, want 500 at least", logs)
	}
	if after > before+memory.Min/2 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// TestMemoryOfALargeTree checks the memory of a commit that touches every leaf of a large tree.
func TestMemoryOfALargeTree(t *testing.T) {
	src := t.TempDir()
	for i := range 12_000 {
		if err := os.WriteFile(fmt.Sprintf("%s/a-file-with-a-name-%d", src, i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := guardtest.Attach(t, guardtest.Mkfs(t, "btrfs", 1<<30, "--nodesize", "4096", "--rootdir", src),
		func(c *guard.Config) { c.Memory = memory.Limits{PerDisk: 64 << 20, NoReserve: true} })
	r.MustMount("btrfs", "commit=300")
	before := heap()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(before + 64<<20))) // as fsward guard does
	whole := func() bool { return largest(r) >= 12_000 }
	inHeap, resident := peak(t, func() {
		untilWhole(r, "find . -type f | xargs touch; sync -f .", whole)
	})
	r.NoAlarm()
	most := largest(r)
	if !whole() {
		t.Errorf("the largest commit had %d records, want one of each file", most)
	}
	t.Logf("%d records: heap %d KiB before, %d KiB at most; the process had %d KiB", most, before>>10,
		inHeap>>10, resident>>10)
	if inHeap > before+64<<20 {
		t.Errorf("the heap took %d bytes", inHeap-before)
	}
}
