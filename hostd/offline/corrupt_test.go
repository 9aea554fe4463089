package offline_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
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
	base, log := shareddata.Path(t, "logs/"+name+".base.img.zst"), shareddata.Path(t,
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
		dir := t.TempDir()
		altered := slices.Clone(rec.Disks)
		cfg := offline.CorruptConfig{FS: detect.Auto, Spec: "chunk_item.stripe1.offset+4096",
			Commit: commit}
		for i := range altered {
			altered[i].Log = filepath.Join(dir, altered[i].Name)
			cfg.Out = append(cfg.Out, altered[i].Log)
		}
		_, err := offline.CorruptLogs(context.Background(), rec.Disks, cfg)
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
		var seen guardtest.Events
		if _, err := offline.Replay(context.Background(),
			offline.ReplayConfig{Disks: altered, FS: detect.Auto, Sinks: []guard.Sink{&seen}},
			zaptest.NewLogger(t)); err != nil {
			t.Fatal(err)
		}
		if last := seen[len(seen)-1]; last.Outcome != change.Violated || last.Action != guard.Refused {
			t.Errorf("commit %d: %s", commit, commitsOf(seen))
		}
	}
	t.Logf("%d commits were altered", commits)
	if _, err := offline.CorruptLogs(context.Background(), rec.Disks,
		offline.CorruptConfig{FS: detect.Auto, Spec: "inode_item.nlink+1", Commit: 1,
			Out: []string{t.TempDir() + "/one"}}); err == nil {
		t.Error("two logs, one name for a new one, and no error")
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
