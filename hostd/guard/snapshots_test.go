package guard_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp"
	"fsward/interp/detect"
)

var (
	snapshotImage = flag.String("snapshot-image", "",
		"alter a Btrfs in this `FILE` and not one that the test makes")
	snapshotPicks = flag.Int("snapshot-picks", 1, "`number` of places for each alteration of a tree")
	snapshotMost  = flag.Int("snapshot-alterations", 120, "largest `number` of alterations")
)

// TestSnapshotsJudgedAsWhole checks that comparing snapshots with their sources loses no detection:
// a corrupted file system has the outcome that it has if each snapshot is judged as a whole. It
// judges in memory and part by part.
func TestSnapshotsJudgedAsWhole(t *testing.T) {
	image := *snapshotImage
	if image == "" {
		image = snapshotsImage(t)
	}
	d, err := blocktap.OpenImage(image)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	s := &snapshotTest{streamTest: newStreamTest(t, "btrfs"), disk: d, found: map[string]int{}}
	if s.corrupter, err = detect.Corrupter(d, s.fs, false); err != nil {
		t.Fatal(err)
	}
	if held := s.outcomes("sound"); held[0] != change.Holds {
		t.Fatal("the file system is not sound")
	}
	fewer := s.records[1] < s.records[0] || *snapshotImage != ""
	if !fewer || s.records[2] != s.records[1] {
		t.Errorf("%d records as a whole, %d and %d compared", s.records[0], s.records[1], s.records[2])
	}
	for _, spec := range s.alterations() {
		if s.altered < *snapshotMost {
			s.alter(spec)
		}
	}
	for _, spec := range sharedAndOwn {
		before := s.violated
		if s.alter(spec); *snapshotImage == "" && s.violated == before {
			t.Errorf("%s is no violation", spec)
		}
	}
	t.Logf("%d alterations, %d of them violations: %v", s.altered, s.violated, s.found)
	if s.violated < 20 {
		t.Error("too few alterations are violations to show anything")
	}
}

// sharedAndOwn alter a block that tree 256 and its snapshots share, and a block that only the
// snapshot 257 has.
var sharedAndOwn = []string{
	"header.flags=0@tree=256,level=0", "inode_item.nlink+1@tree=256,objectid=350",
	"header.flags=0@tree=257,level=0", "inode_item.nlink+1@tree=257,mode=0o100644",
}

// A snapshotTest judges altered states of a file system with snapshots.
type snapshotTest struct {
	*streamTest
	disk              blocktap.Disk
	corrupter         interp.Corrupter
	altered, violated int
	found             map[string]int // by rule
	records           [3]int
}

// alterations returns what can be altered in the blocks of each tree, in random order.
func (s *snapshotTest) alterations() (specs []string) {
	for tree := 256; tree < 400; tree++ {
		_, err := s.corrupter.Corrupt(fmt.Sprintf("header.generation+1@tree=%d", tree), 0)
		if errors.Is(err, interp.ErrNoPlace) {
			continue
		}
		if err != nil {
			s.Fatal(err)
		}
		for _, object := range detect.Alterables(s.fs) {
			for _, action := range object.Actions {
				specs = append(specs, fmt.Sprintf("%s!%s@tree=%d", object.Object, action, tree))
			}
			for _, f := range object.Fields {
				specs = append(specs, fmt.Sprintf("%s.%s+1@tree=%d", object.Object, f.Name, tree))
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(specs), func(i, j int) {
		specs[i], specs[j] = specs[j], specs[i]
	})
	return specs
}

// alter makes an alteration at some places and compares the outcomes.
func (s *snapshotTest) alter(spec string) {
	for pick := range *snapshotPicks {
		c, err := s.corrupter.Corrupt(spec, pick*7)
		if errors.Is(err, interp.ErrNoPlace) {
			return
		}
		if err != nil {
			s.Fatalf("%s: %v", spec, err)
		}
		d := s.streamTest.altered(s.disk, c)
		whole := s.disk
		s.disk = d
		outcomes := s.outcomes(spec + ": " + c.What)
		s.disk = whole
		_ = d.Close()
		if s.altered++; outcomes[0] == change.Violated {
			s.violated++
		}
	}
}

// outcomes judges the disk in three ways, and reports those that differ.
func (s *snapshotTest) outcomes(what string) (list [3]change.Outcome) {
	var texts []string
	for i, options := range []interp.ImageOptions{{}, {CompareSnapshots: true},
		{CompareSnapshots: true, Stream: true}} {
		set, err := interp.NewSet(s.disk)
		if err != nil {
			s.Fatal(err)
		}
		if options.Stream {
			options.Budget = interp.NewMemoryBudget(64<<20, nil)
		}
		ev := &guard.Event{Outcome: change.Undecided}
		fs, obs, err := detect.ImageWith(set, s.fs, options)
		if err == nil {
			ev = guard.CheckImage(context.Background(), s.rules, fs, obs, 0, nil)
		}
		list[i], s.records[i] = ev.Outcome, ev.Records
		words, rules := found(ev)
		texts = append(texts, strings.Join(words, "\n"))
		if i == 0 {
			for _, r := range rules {
				s.found[r]++
			}
		}
	}
	if list[1] != list[0] || list[2] != list[0] {
		s.Errorf("%s\nas a whole: %s\ncompared: %s\ncompared, part by part: %s", what, texts[0],
			texts[1], texts[2])
	}
	return list
}

// snapshotsImage makes a Btrfs with snapshots that differ from their sources and each other.
func snapshotsImage(t *testing.T) string {
	t.Helper()
	image := guardtest.Mkfs(t, "btrfs", 128<<20)
	guardtest.Run(t, "unshare", "--mount", "sh", "-ec", `mkdir -p `+image+`.mnt
		mount -o loop `+image+` `+image+`.mnt; cd `+image+`.mnt
		btrfs -q subvolume create s
		for i in $(seq 100); do echo $i >s/file$i; done
		head -c 30000 /dev/zero >s/data; ln s/file1 s/link; ln -s target s/symlink; mkdir s/dir
		sync -f .
		btrfs -q subvolume snapshot s a; btrfs -q subvolume snapshot -r s r1
		echo more >>s/file2; rm s/file3; btrfs -q subvolume snapshot -r s r2
		mkdir a/new; mv a/file5 a/new; ln a/file6 a/new/six; rm a/link
		head -c 20000 /dev/urandom >a/data2; cp --reflink=always a/data2 a/data3
		sync -f .
		btrfs -q subvolume snapshot a b; echo b >b/new/b; rm b/file7; setfattr -n user.x -v y b/file8
		echo changed >s/file9; btrfs -q subvolume snapshot s c; rm c/file9; mkdir c/file9
		cd /; umount `+image+`.mnt`)
	return image
}
