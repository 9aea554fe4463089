package guardtest_test

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/zap"

	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A test mounts a guarded ext3 in the host's kernel, writes to it, and expects no alarm. The
// example does not run, because it needs root.
func ExampleAttach() {
	test := func(t *testing.T) {
		image := guardtest.Mkfs(t, "ext3", 64<<20)
		rig := guardtest.Attach(t, image, nil)
		rig.MustMount("ext3")
		rig.MustRun("mkdir d; echo hello > d/f; sync -f .")
		if rig.NoAlarm() == 0 {
			t.Error("no commit was checked")
		}
		rig.End()
		guardtest.MustBeClean(t, "ext3", image)
	}
	_ = test
}

// A recorder keeps the events of the replay of a log, and the example prints the first commit.
func ExampleRecorder() {
	const log = "../guard/testdata/logs/ext3"
	disk := offline.ReplayDisk{Base: log + ".base.zst", Log: log + ".log.zst"}
	var seen guardtest.Recorder
	_, err := offline.Replay(context.Background(), offline.ReplayConfig{
		Disks: []offline.ReplayDisk{disk}, FS: detect.Auto, Sinks: []guard.Sink{&seen}}, zap.NewNop())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ev := range seen.Events() {
		if ev.Kind == guard.KindCommit {
			fmt.Println(ev.FS, ev.Kind, ev.Outcome)
			return
		}
	}
	// Output: ext3 commit holds
}
