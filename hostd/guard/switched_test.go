package guard_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/explore/recordtest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/detect"
)

// putBack is a disk whose contents can be exchanged, as at a checkpoint.
type putBack struct{ *overlay.Disk }

func layer(t *testing.T, on overlay.Base) *overlay.Disk {
	t.Helper()
	d, err := overlay.New(on)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// said returns the event of a guest's write as words.
func said(ev *guard.Event) string {
	return fmt.Sprintf("%s %s %d: %s, %d records", ev.Kind, ev.FS, ev.Generation, ev.Outcome,
		ev.Records)
}

// TestSwitched puts a guarded disk back, also in the middle of transactions. The guest's next
// commits get the same verdicts with the same changes as the first time. A guard that is not told
// refuses them.
func TestSwitched(t *testing.T) {
	const script = `for r in 1 2 3; do
		mkdir -p d$r; for i in 1 2 3 4 5 6 7 8; do echo $r > d$r/f$i; done; sync -f d$r/f1
		echo more >> d$r/f2; sync d$r/f2; ln d$r/f3 d$r/l; rm d$r/f4; mv d$r/f5 d$r/m
		dd if=/dev/zero of=d$r/big bs=4k count=40 2>/dev/null
	done; sync -f .`
	for fs, size := range map[string]int64{"ext3": 32 << 20, "btrfs": 128 << 20} {
		t.Run(fs, func(t *testing.T) {
			image, log := recordtest.Record(t, recordtest.Load{FS: fs, Size: size,
				Do: recordtest.Script(script)})
			s := newSwitchedDisk(t, image)
			s.all = recordtest.Requests(t, log)
			s.recordMoments()
			s.checkFirst()
			s.putBackAll()
			// The guard is not told.
			s.disk.Disk = layer(t, s.moments[0])
			if got := s.do(s.all); slices.Equal(got, slices.Concat(s.first...)) {
				t.Error("a guard that is not told that its disk was put back says the same")
			}
		})
	}
}

// switchedDisk is a guarded disk with its content at several moments.
type switchedDisk struct {
	t     *testing.T
	all   []blocktap.Request // of the guest
	disk  *putBack
	seen  *guardtest.Recorder
	disks *guard.Disks

	moments []*overlay.Disk // before the requests at starts
	starts  []int
	first   [][]string // events from each moment to the next
}

// momentEvery is the number of requests between two moments, or a few more.
const momentEvery = 7

// nextMoment returns the first request from at on that is no write of a superblock. Between the
// copies of a superblock, which the kernel writes in any order, a guard that attaches may take the
// commit for done or not.
func (s *switchedDisk) nextMoment(at int) int {
	for at < len(s.all) && s.all[at].Op == blocktap.OpWrite &&
		slices.Contains(ondisk.SuperOffsets[:], s.all[at].Off) {
		at++
	}
	return min(at, len(s.all))
}

// newSwitchedDisk guards a disk with the content of an image.
func newSwitchedDisk(t *testing.T, image string) *switchedDisk {
	t.Helper()
	base, err := blocktap.OpenImage(image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	s := &switchedDisk{t: t, disk: &putBack{layer(t, base)}, seen: &guardtest.Recorder{}}
	s.disks, err = guard.Open(guard.Config{Disks: []guard.DiskSpec{{Name: "disk", Disk: s.disk}},
		FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Sinks: []guard.Sink{s.seen}}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.disks.Close() })
	return s
}

// do performs requests and returns their events.
func (s *switchedDisk) do(list []blocktap.Request) (out []string) {
	s.t.Helper()
	from := len(s.seen.Events())
	for _, q := range list {
		q.Data = slices.Clone(q.Data) // it belongs to the device
		if err := s.disks.Device("disk").Do(s.t.Context(), &q); err != nil &&
			!errors.Is(err, blocktap.ErrRefused) {
			s.t.Fatal(err)
		}
	}
	for _, ev := range s.seen.Events()[from:] {
		out = append(out, said(ev))
	}
	return out
}

// recordMoments performs all requests and keeps the moments between them.
func (s *switchedDisk) recordMoments() {
	for at := 0; at < len(s.all); {
		next := s.nextMoment(min(at+momentEvery, len(s.all)))
		s.moments, s.starts = append(s.moments, s.disk.Disk), append(s.starts, at)
		s.disk.Disk = layer(s.t, s.disk.Disk)
		s.first = append(s.first, s.do(s.all[at:next]))
		at = next
	}
	s.starts = append(s.starts, len(s.all))
}

// checkFirst checks the events of the first time.
func (s *switchedDisk) checkFirst() {
	s.t.Helper()
	commits := 0
	for _, ev := range s.seen.Events() {
		if ev.Outcome != change.Holds {
			s.t.Errorf("the first time: %s", guardtest.TextOf(ev))
		}
		if ev.Kind == guard.KindCommit {
			commits++
		}
	}
	s.t.Logf("%d requests, %d commits, %d moments", len(s.all), commits, len(s.moments))
	if commits < 4 {
		s.t.Errorf("%d commits", commits)
	}
}

// putBackAll puts the disk back to each moment and checks that the next requests have the same
// events as the first time. It goes backwards, so that the guard knows more than the disk holds.
func (s *switchedDisk) putBackAll() {
	s.t.Helper()
	for m := len(s.moments) - 1; m >= 0; m-- {
		s.disk.Disk = layer(s.t, s.moments[m])
		if err := s.disks.Switched(); err != nil {
			s.t.Fatalf("put back to request %d: %v", s.starts[m], err)
		}
		end := min(m+8, len(s.moments))
		got := s.do(s.all[s.starts[m]:s.starts[end]])
		if want := slices.Concat(s.first[m:end]...); !slices.Equal(got, want) {
			s.t.Errorf("put back to request %d, it says\n%q, and said\n%q", s.starts[m], got, want)
		}
	}
}

// TestSwitchedSimulator simulates a bug in a file system that is on the disk only since the disk
// was exchanged. The commit that carries the bug is refused.
func TestSwitchedSimulator(t *testing.T) {
	image, log := recordtest.Record(t, recordtest.Load{FS: "ext3", Size: 32 << 20,
		Do: recordtest.Script("mkdir d; echo 1 > d/f; sync -f .")})
	base, err := blocktap.OpenImage(image)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	disk := &putBack{layer(t, guardtest.Blank(base.Size()))}
	seen := &guardtest.Recorder{}
	disks, err := guard.Open(guard.Config{Disks: []guard.DiskSpec{{Name: "disk", Disk: disk}},
		FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse}, Simulate: true,
		Sinks: []guard.Sink{seen}}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	defer disks.Close()
	const bug = "inode.links_count+1"
	if err := disks.Simulator("disk").Arm(bug); !errors.Is(err, interp.ErrNotFound) {
		t.Errorf("on a blank disk: %v, want %v", err, interp.ErrNotFound)
	}
	disk.Disk = layer(t, base)
	if err := disks.Switched(); err != nil {
		t.Fatal(err)
	}
	if err := disks.Simulator("disk").Arm(bug); err != nil {
		t.Fatal(err)
	}
	s := &switchedDisk{t: t, disk: disk, seen: seen, disks: disks}
	s.do(recordtest.Requests(t, log))
	if !slices.ContainsFunc(seen.Events(), func(ev *guard.Event) bool {
		return ev.Kind == guard.KindCommit && ev.Action == guard.Refused
	}) {
		t.Errorf("no commit was refused: %v", seen.Events())
	}
}
