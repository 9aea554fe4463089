package offline_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// TestCorruptLog alters a commit in the middle of a log: the commits before it hold, and it is
// refused for the alteration.
func TestCorruptLog(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, spec, rule string }{
		{"btrfs-single-4k", "inode_item.nlink+1", "btrfs/14"},
		{"ext3-default", "inode.links_count+1@kind=file", "ext3/7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			corruptLog(t, tc.name, tc.spec, tc.rule)
		})
	}
}

func corruptLog(t *testing.T, name, spec, rule string) {
	base, log := capturedBase(t, name), shareddata.Path(t,
		"logs/"+name+".log.zst")
	out := filepath.Join(t.TempDir(), "bad.log")
	disks := []offline.ReplayDisk{{Base: base, Log: log}}
	cfg := offline.CorruptConfig{FS: detect.Auto, Spec: spec, Pick: 3, Commit: 4, Out: []string{out}}
	done, err := offline.CorruptLogs(context.Background(), disks, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(done.What)
	var seen guardtest.Events
	if _, err := offline.Replay(context.Background(),
		offline.ReplayConfig{Disks: []offline.ReplayDisk{{Base: base, Log: out}}, FS: detect.Auto,
			Sinks: []guard.Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	seen = slices.DeleteFunc(seen, func(ev *guard.Event) bool { return ev.Kind != guard.KindCommit })
	if len(seen) < 4 {
		t.Fatalf("%d events, want 4 commits", len(seen))
	}
	for i, ev := range seen[:4] {
		if bad := ev.Outcome != change.Holds; bad != (i == 3) {
			t.Errorf("commit %d: %s", i+1, guardtest.TextOf(ev))
		}
	}
	if names := guard.RuleNames(seen[3].Violations); !slices.Equal(names, []string{rule}) {
		t.Errorf("commit 4 violates %v, want %s alone", names, rule)
	}
	cfg.Commit, cfg.Out = 400, []string{out + ".none"}
	if _, err := offline.CorruptLogs(context.Background(), disks, cfg); err == nil {
		t.Error("there is no commit 400, and no error")
	}
}

// TestCorruptLogsOfSeveralDisks alters the logs of two disks together: a member of a chunk on the
// second disk, in the copies of both.
func TestCorruptLogsOfSeveralDisks(t *testing.T) {
	rec := guardtest.RecordDisks(t, guardtest.MadeDisks(t, 2, 256<<20, "-d", "raid0", "-m", "raid1"),
		"echo one > one; sync -f .; fallocate -l 100M two; sync -f .; echo three > three; sync -f .")
	commits := 0
	for commit := 1; ; commit++ {
		_, err := refusedIfAltered(t, rec.Disks, "chunk_item.stripe1.offset+4096", commit)
		if errors.Is(err, interp.ErrNoPlace) {
			continue // this commit makes no chunk
		}
		if err != nil && commits > 0 {
			break // no commit has this number
		}
		if err != nil {
			t.Fatal(err)
		}
		commits++
	}
	t.Logf("%d commits were altered", commits)
	if _, err := offline.CorruptLogs(context.Background(), rec.Disks,
		offline.CorruptConfig{FS: detect.Auto, Spec: "inode_item.nlink+1", Commit: 1,
			Out: []string{t.TempDir() + "/one"}}); err == nil {
		t.Error("two logs, one name for a new one, and no error")
	}
	if _, err := refusedIfAltered(t, rec.Disks, "inode_item.nlink+1", 0); err == nil ||
		!strings.Contains(err.Error(), "no commit 0") {
		t.Errorf("commit 0, which no commit is: %v", err)
	}
}

// refusedIfAltered alters a commit in the logs of several disks and replays them. The altered
// commit must be refused for the rules that it returns.
func refusedIfAltered(t *testing.T, disks []offline.ReplayDisk, spec string,
	commit int) (rules []string, err error) {
	t.Helper()
	dir, altered := t.TempDir(), slices.Clone(disks)
	cfg := offline.CorruptConfig{FS: detect.Auto, Spec: spec, Commit: commit}
	for i := range altered {
		altered[i].Log = filepath.Join(dir, altered[i].Name)
		cfg.Out = append(cfg.Out, altered[i].Log)
	}
	if _, err := offline.CorruptLogs(t.Context(), disks, cfg); err != nil {
		return nil, err
	}
	var seen guardtest.Events
	if _, err := offline.Replay(t.Context(), offline.ReplayConfig{Disks: altered, FS: detect.Auto,
		Sinks: []guard.Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	last := seen[len(seen)-1]
	if last.Outcome != change.Violated || last.Action != guard.Refused {
		t.Errorf("%s in commit %d: %s", spec, commit, commitsOf(seen))
	}
	return guard.RuleNames(last.Violations), nil
}

// TestCorruptedParityChunks alters each member of a chunk of RAID5 and RAID6 and of its device
// extents that says where its bytes lie.
func TestCorruptedParityChunks(t *testing.T) {
	for profile, of := range map[string]struct {
		chunk int // type of its data
		rules map[string]string
	}{
		"raid5": {0x81, map[string]string{
			"chunk_item.num_stripes-1":        "btrfs/chunk",
			"chunk_item.stripe_len^0x30000":   "btrfs/chunk",
			"chunk_item.length+65536":         "btrfs/chunk",
			"chunk_item.length-196608":        "btrfs/41",    // one row of three columns
			"chunk_item.type^0x180":           "btrfs/chunk", // RAID6
			"chunk_item.type^0x88":            "btrfs/41",    // RAID0
			"chunk_item.stripe1.devid=1":      "btrfs/chunk",
			"chunk_item.stripe1.offset+65536": "btrfs/chunk",
			"chunk_item.stripe.dev_uuid+1":    "btrfs/chunk",
			"dev_extent.length-65536":         "btrfs/42",
			"dev_extent.chunk_offset+65536":   "btrfs/42",
		}},
		"raid6": {0x101, map[string]string{
			"chunk_item.length-131072":        "btrfs/41", // one row of two columns
			"chunk_item.type^0x108":           "btrfs/41", // RAID0
			"chunk_item.stripe1.offset+65536": "btrfs/chunk",
			"dev_extent.length-65536":         "btrfs/42",
			"dev_extent.chunk_offset+65536":   "btrfs/42",
		}},
	} {
		t.Run(profile, func(t *testing.T) {
			rec := guardtest.RecordDisks(t, guardtest.MadeDisks(t, 4, 512<<20, "-d", profile,
				"-m", profile), "echo one > one; sync -f .; fallocate -l 600M two; sync -f .")
			for spec, want := range of.rules {
				if strings.HasPrefix(spec, "chunk_item") {
					spec = fmt.Sprintf("%s@type=%d", spec, of.chunk)
				}
				got, err := []string(nil), interp.ErrNoPlace
				for commit := 1; errors.Is(err, interp.ErrNoPlace); commit++ {
					got, err = refusedIfAltered(t, rec.Disks, spec, commit)
				}
				if err != nil || !slices.Contains(got, want) {
					t.Errorf("%s violates %v, want %s: %v", spec, got, want, err)
				}
			}
		})
	}
}

// TestPatched checks that a patch goes into the last write of its range, and that the recorded
// requests do not change.
func TestPatched(t *testing.T) {
	sector := func(fill byte) []byte { return slices.Repeat([]byte{fill}, blocktap.SectorSize) }
	txn := &offline.Transaction{Requests: []offline.DiskRequest{
		{0, blocktap.Request{Op: blocktap.OpWrite, Off: 0, Len: 1024,
			Data: append(sector('a'), sector('b')...)}},
		{0, blocktap.Request{Op: blocktap.OpFlush}},
		{0, blocktap.Request{Op: blocktap.OpWrite, Off: 512, Len: 512, Data: sector('c')}},
		{1, blocktap.Request{Op: blocktap.OpWrite, Off: 0, Len: 512, Data: sector('d')}},
	}}
	got, err := txn.Patched([]interp.Patch{{Off: 0, Data: append(sector('x'), sector('y')...)},
		{Off: interp.Address(1, 0), Data: sector('z')}})
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Data[:512]) != string(sector('x')) ||
		string(got[0].Data[512:]) != string(sector('b')) || string(got[2].Data) != string(sector('y')) ||
		string(got[3].Data) != string(sector('z')) {
		t.Error("a patch is not in the last write of its range, on its disk")
	}
	if txn.Requests[0].Data[0] != 'a' || txn.Requests[2].Data[0] != 'c' {
		t.Error("the recorded requests changed")
	}
	for _, addr := range []uint64{4096, interp.Address(1, 512), interp.Address(2, 0)} {
		if _, err := txn.Patched([]interp.Patch{{Off: addr, Data: sector('z')}}); err == nil {
			t.Errorf("a patch of what was not written is no error: %d", addr)
		}
	}
}
