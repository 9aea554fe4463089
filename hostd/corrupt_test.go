package hostd

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/change"
	"fsward/interp"
	"fsward/interp/detect"
)

// A commit in the middle of a log is altered: the commits before it hold, it is refused for that.
func TestCorruptLog(t *testing.T) {
	base, log := sharedData(t, "logs/btrfs-single-4k.base.img.zst"), sharedData(t, "logs/btrfs-single-4k.log.zst")
	out := filepath.Join(t.TempDir(), "bad.log")
	cfg := CorruptConfig{FS: detect.Auto, Spec: "inode_item.nlink+1", Pick: 3, Base: base, Commit: 4, Out: out}
	done, err := CorruptLog(context.Background(), log, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(done.What)
	var seen events
	if _, err := Replay(context.Background(), ReplayConfig{Disks: []ReplayDisk{{Base: base, Log: out}}, FS: detect.Auto, Sinks: []Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 4 {
		t.Fatalf("%d events, want 4 commits", len(seen))
	}
	for i, ev := range seen {
		if bad := ev.Outcome != change.Holds; bad != (i == 3) {
			t.Errorf("commit %d: %s", i+1, textOf(ev))
		}
	}
	if names := ruleNames(seen[3].Violations); !slices.Equal(names, []string{"btrfs/14"}) {
		t.Errorf("commit 4 violates %v, want btrfs/14 alone", names)
	}
	cfg.Commit, cfg.Out = 400, out+".none"
	if _, err := CorruptLog(context.Background(), log, cfg); err == nil {
		t.Error("there is no commit 400, and no error")
	}
}

// A patch goes into the last write of its range, and leaves the recorded requests as they are.
func TestPatched(t *testing.T) {
	sector := func(fill byte) []byte { return slices.Repeat([]byte{fill}, blocktap.SectorSize) }
	txn := &Transaction{Requests: []blocktap.Request{
		{Op: blocktap.OpWrite, Off: 0, Len: 1024, Data: append(sector('a'), sector('b')...)},
		{Op: blocktap.OpFlush},
		{Op: blocktap.OpWrite, Off: 512, Len: 512, Data: sector('c')},
	}}
	got, err := txn.Patched([]interp.Patch{{Off: 0, Data: append(sector('x'), sector('y')...)}})
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0].Data[:512]) != string(sector('x')) || string(got[0].Data[512:]) != string(sector('b')) || string(got[2].Data) != string(sector('y')) {
		t.Error("a patch is not in the last write of its range")
	}
	if txn.Requests[0].Data[0] != 'a' || txn.Requests[2].Data[0] != 'c' {
		t.Error("the recorded requests changed")
	}
	if _, err := txn.Patched([]interp.Patch{{Off: 4096, Data: sector('z')}}); err == nil {
		t.Error("a patch of what was not written is no error")
	}
}
