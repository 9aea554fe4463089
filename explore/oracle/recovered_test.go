package oracle

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"fsward/blocktap"
	"fsward/explore/crash"
)

// Crash states that recover to the same disk hold the same files, and there are fewer such disks
// than states. Without a complete replay two files would be mixed up.
func TestRecovered(t *testing.T) {
	const recording = "../../hostd/guard/testdata/logs/ext3"
	base, err := blocktap.OpenImage(recording + ".base.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	files := make(map[string][]File) // by recovered disk
	trees := make(map[string]bool)
	states := 0
	_, err = crash.Each(base, crash.OpenTrace(recording+".log.zst"),
		crash.Options{Limit: 100, Seed: 1}, func(s *crash.State) error {
			sum, err := Recovered(s, 0, "ext3")
			if err != nil {
				return err
			}
			c, err := ReadCommitted(s.Disk(0), "ext3")
			if err != nil {
				return err
			}
			slices.SortFunc(c.Entries, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
			if known, ok := files[sum]; ok && !reflect.DeepEqual(known, c.Entries) {
				t.Errorf("state %s: the same disk has other files", s.ID())
			}
			files[sum] = c.Entries
			trees[fmt.Sprint(c.Entries)] = true
			states++
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if states < 80 || len(files) > states/2 || len(trees) < 3 || len(files) < len(trees) {
		t.Errorf("%d states recover to %d disks with %d trees", states, len(files), len(trees))
	}
	if _, err := Recovered(btrfsState(t), 0, "btrfs"); err == nil {
		t.Error("the recovery of Btrfs is known")
	}
}

// btrfsState returns a state of a Btrfs.
func btrfsState(t *testing.T) *crash.State {
	t.Helper()
	const recording = "../../hostd/guard/testdata/logs/btrfs"
	base, err := blocktap.OpenImage(recording + ".base.zst")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	var state *crash.State
	_, err = crash.Each(base, crash.OpenTrace(recording+".log.zst"), crash.Options{Limit: 1},
		func(s *crash.State) error { state = s.Settled(); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return state
}
