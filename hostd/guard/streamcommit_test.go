package guard_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp"
	"fsward/interp/detect"
)

// TestStreamJudgesCommitsAsOneTransaction checks that a commit that is judged part by part has the
// verdict of the single transaction: each commit of a log, and some with one field of one object
// altered, for every object that rules use.
func TestStreamJudgesCommitsAsOneTransaction(t *testing.T) {
	t.Parallel()
	s := newCommitTest(t, "btrfs", 0)
	s.replay("btrfs-single-4k", alteredCommits)
	s.alteredEnough()
}

// alteredCommits selects one commit in four, with -short one in twelve.
func alteredCommits(commit int) bool {
	if testing.Short() {
		return commit%12 == 2
	}
	return commit%4 == 2
}

// alteredEnough checks that so many alterations were judged that they show something.
func (s *commitTest) alteredEnough() {
	s.Helper()
	judged, violated := 100, 20
	if testing.Short() {
		judged, violated = 30, 10
	}
	if s.judged < judged || len(s.violated) < violated {
		s.Errorf("%d altered commits were judged, %d rules were violated: too few to show anything",
			s.judged, len(s.violated))
	}
}

// TestStreamJudgesExt3CommitsAsOneTransaction does the same for ext3.
func TestStreamJudgesExt3CommitsAsOneTransaction(t *testing.T) {
	t.Parallel()
	s := newCommitTest(t, "ext3", 0)
	s.replay("ext3-default", alteredCommits)
	s.alteredEnough()
}

// TestStreamCommitsInShares does so with so little memory that sums are computed in parts.
func TestStreamCommitsInShares(t *testing.T) {
	t.Parallel()
	for fs, log := range map[string]string{"btrfs": "btrfs-single-4k", "ext3": "ext3-default"} {
		s := newCommitTest(t, fs, 128<<10)
		s.replay(log, func(int) bool { return false })
		if s.passes <= 2 {
			t.Errorf("%s: %d passes: the sums were not partitioned", fs, s.passes)
		}
	}
}

// A commitTest judges commits in both ways.
type commitTest struct {
	*streamTest
	before blocktap.Disk // the disk before the transaction
	judged int
}

func newCommitTest(t *testing.T, fs string, memory uint64) *commitTest {
	t.Helper()
	s := newStreamTest(t, fs)
	var err error
	if s.rules, err = (guard.RulesConfig{Memory: memory}).Load(); err != nil {
		t.Fatal(err)
	}
	return &commitTest{streamTest: s}
}

// replay judges each commit of a log, and altered ones of those that alter selects.
func (s *commitTest) replay(log string, alter func(commit int) bool) {
	s.Helper()
	base := capturedBase(s.T, log)
	image, err := blocktap.OpenImage(base)
	if err != nil {
		s.Fatal(err)
	}
	defer image.Close()
	before, err := overlay.New(image)
	if err != nil {
		s.Fatal(err)
	}
	defer before.Close()
	s.before = before
	err = offline.EachTransaction(context.Background(), []offline.ReplayDisk{{Base: base,
		Log: capturedLog(s.T, log)}}, detect.Auto,
		func(tr *offline.Transaction) error {
			if !s.sameCommit(tr.Requests) && tr.Commit > 0 {
				s.Errorf("commit %d was not judged by rules", tr.Commit)
			}
			if tr.Commit > 0 && alter(tr.Commit) {
				s.alterCommit(tr)
			}
			device := blocktap.NewDevice(before, nil)
			for i := range tr.Requests {
				if err := device.Do(context.Background(), &tr.Requests[i].Request); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		s.Fatal(err)
	}
	s.Logf("%d altered commits were judged by rules, at most %d passes, %d rules were violated: %s",
		s.judged, s.passes, len(s.violated), strings.Join(slices.Sorted(maps.Keys(s.violated)), " "))
}

// alterCommit alters each field that the transaction writes, and judges the results.
func (s *commitTest) alterCommit(tr *offline.Transaction) {
	s.Helper()
	corrupter, err := detect.Corrupter(tr.Disks.Disks[0], s.fs, false)
	if err != nil {
		s.Fatal(err)
	}
	for _, object := range detect.Alterables(s.fs) {
		for _, spec := range s.specs(object) {
			c, err := corrupter.Corrupt(spec.text, spec.pick+tr.Commit)
			if errors.Is(err, interp.ErrNoPlace) {
				continue
			}
			if err != nil {
				s.Fatalf("%s: %v", spec.text, err)
			}
			requests, err := tr.Patched(c.Patches)
			if err != nil {
				continue // another transaction wrote the object
			}
			if s.sameCommit(requests) {
				s.judged++
			}
			if s.Failed() {
				s.Fatalf("commit %d after %s: %s", tr.Commit, spec.text, c.What)
			}
		}
	}
}

// sameCommit judges the first commit among some requests in both ways and reports whether rules
// judged it.
func (s *commitTest) sameCommit(requests []offline.DiskRequest) bool {
	s.Helper()
	held, obs := s.judgeCommit(requests, interp.Limits{})
	streamed, parts := s.judgeCommit(requests, interp.Limits{Memory: 2})
	return sameVerdict(s.T, s.violated, held, streamed, obs, parts)
}

// judgeCommit judges the first commit among some requests.
func (s *commitTest) judgeCommit(requests []offline.DiskRequest, limits interp.Limits) (
	*guard.Event, interp.Observation) {
	s.Helper()
	disk, err := overlay.New(s.before)
	if err != nil {
		s.Fatal(err)
	}
	defer disk.Close()
	set, err := interp.NewSet(disk)
	if err != nil {
		s.Fatal(err)
	}
	f, err := guard.Follow(set, s.fs, limits, func(int) string { return "disk" })
	if err != nil {
		s.Fatal(err)
	}
	device := blocktap.NewDevice(disk, nil)
	for i := range requests {
		r := &requests[i].Request
		if r.Op == blocktap.OpFlush {
			continue
		}
		obs := f.Observe(guard.WriteOf(r))
		if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil {
			counted := &countedStream{Stream: obs.Stream}
			if finder, ok := obs.Stream.(change.Finder); ok {
				obs.Stream = &countedFinder{counted, finder}
			}
			ev := guard.CheckImage(context.Background(), s.rules, s.fs, obs, 0, nil)
			s.passes = max(s.passes, counted.passes)
			return ev, obs
		}
		if err := device.Do(context.Background(), r); err != nil {
			s.Fatal(err)
		}
		f.Settle(true)
	}
	return &guard.Event{}, interp.Observation{}
}

// A countedFinder counts the passes over the stream of a commit.
type countedFinder struct {
	*countedStream
	change.Finder
}

func (s *countedFinder) Each(visit func(*change.Txn) error) error {
	return s.countedStream.Each(visit)
}

func (s *countedFinder) Len() int                                { return s.Finder.Len() }
func (s *countedFinder) Names() *change.Names                    { return s.Finder.Names() }
func (s *countedFinder) Made(k change.Kind, f change.Field) bool { return s.Finder.Made(k, f) }

// TestExt3VariantsPartByPart runs the load of TestExt3Variants with so little memory that all its
// commits are judged part by part.
func TestExt3VariantsPartByPart(t *testing.T) {
	for _, v := range []ext3Variant{
		{mkfs: "-b 1024 -I 128"},
		{mkfs: "-O ^dir_index,^filetype"},
		{mount: "data=journal"},
		{on: "tune2fs -L online -m 2 -c 9 -o ^acl $DISK0; tune2fs -U random $DISK0"},
		{mkfs: "-g 4096 -b 1024 -i 1024", on: "rm -r d; sync -f ."},
	} {
		v.memory = memory.Limits{PerDisk: 192 << 10, NoReserve: true}
		t.Run(v.name(), func(t *testing.T) { v.run(t) })
	}
}

// TestVariantsPartByPart runs the load of TestVariants with so little memory that nearly all
// commits are judged part by part.
func TestVariantsPartByPart(t *testing.T) {
	const balance = "\nbtrfs -q balance start --full-balance .\nsync -f .\nrm -rf d; sync -f ."
	for _, v := range []variant{
		{disks: 1, mkfs: "-d single -m single"},
		{disks: 1, mkfs: "-R quota"},
		{disks: 1, more: simpleQuota},
		{disks: 1, mkfs: "-O ^skinny-metadata,^no-holes,^extref -R ^free-space-tree -n 4096",
			more: "LINKS=20\n"},
		{disks: 2, mkfs: "-d raid1 -m raid1"},
	} {
		t.Run(v.name(), func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, v.disks, 256<<20,
				strings.Fields(v.mkfs)...), func(c *guard.Config) {
				c.Memory = memory.Limits{PerDisk: 128 << 10, NoReserve: true}
			})
			r.MustMount("btrfs")
			r.MustRun(v.more + variantLoad + balance)
			finish(r, v.more != simpleQuota)
		})
	}
}
