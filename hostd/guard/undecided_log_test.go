package guard_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/change"
	"fsward/explore/recordtest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// judgedLog guards a recorded disk, performs its recorded writes, waits for the check of the volume
// and performs them to the end. It returns the events and the outcome of the disks.
func judgedLog(t *testing.T, base overlay.Base, name string, policies guard.Policies,
	work change.WorkLimits) (guardtest.Events, guard.VolumeStatus) {
	t.Helper()
	seen := &guardtest.Recorder{}
	disks, err := guard.Open(guard.Config{FS: detect.Auto, Policies: policies, Work: work,
		Disks: []guard.DiskSpec{{Name: "disk", Disk: &putBack{layer(t, base)}}}, Verify: true,
		Sinks: []guard.Sink{seen}}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	<-disks.BaselineCheckOf(0).Ended()
	for _, q := range recordtest.Requests(t, capturedLog(t, name)) {
		q.Data = slices.Clone(q.Data)
		if err := disks.Device("disk").Do(t.Context(), &q); err != nil {
			if errors.Is(err, blocktap.ErrRefused) {
				break
			}
			t.Fatal(err)
		}
	}
	select {
	case <-disks.BaselineCheckOf(0).Ended():
	case <-time.After(2 * time.Minute):
		t.Errorf("the volume is not checked: %+v", disks.Status()[0])
	}
	status := disks.Status()[0]
	if err := disks.Close(); err != nil {
		t.Error(err)
	}
	return seen.Events(), status
}

// TestUndecidedOfALog guards recorded commits with less and less work: with most of them decided,
// and with none of them even compared. Those that do not suffice pass, and the volume is found
// sound afterwards.
func TestUndecidedOfALog(t *testing.T) {
	for _, name := range []string{"btrfs-single-4k", "ext3-default"} {
		t.Run(name, func(t *testing.T) {
			base, err := blocktap.OpenImage(capturedBase(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer base.Close()
			pass := guard.Policies{OnViolation: guard.OnRefuse, OnUndecided: guard.OnPass}
			var steps []int64
			all, _ := judgedLog(t, base, name, pass, change.WorkLimits{})
			for _, ev := range all {
				if ev.Outcome != change.Holds {
					t.Fatalf("with the default work: %s", guardtest.TextOf(ev))
				}
				if ev.Kind == guard.KindCommit {
					steps = append(steps, ev.Steps)
					t.Logf("%d steps for %d records", ev.Steps, ev.Records)
				}
			}
			slices.Sort(steps)
			for _, work := range []int64{steps[len(steps)-1] / 2, 1} {
				events, status := judgedLog(t, base, name, pass, change.WorkLimits{Base: work})
				passedUndecided(t, events, len(steps))
				if status.State != "guarded" {
					t.Errorf("with %d steps: %+v", work, status)
				}
			}
			refused, _ := judgedLog(t, base, name, guard.Policies{OnViolation: guard.OnRefuse},
				change.WorkLimits{Base: 1})
			if last := refused[len(refused)-1]; last.Action != guard.Refused ||
				last.Outcome != change.Undecided || last.Unverified {
				t.Errorf("without a policy: %s", guardtest.TextOf(last))
			}
		})
	}
}

// passedUndecided checks that all commits passed, that none of an unverified volume is said to
// hold, and that the volume is guarded again in the end.
func passedUndecided(t *testing.T, events guardtest.Events, commits int) {
	t.Helper()
	unverified, again := false, false
	for _, ev := range events {
		switch ev.Kind {
		case guard.KindCommit:
			commits--
			unverified = unverified || ev.Outcome == change.Undecided
			if (ev.Outcome == change.Holds) == ev.Unverified || ev.Action != guard.Passed {
				t.Errorf("a commit: %s", guardtest.TextOf(ev))
			}
		case guard.KindBaseline:
			again = strings.Contains(ev.Note, "guarded again")
			if ev.Outcome != change.Holds || again != unverified {
				t.Errorf("a check: %s", guardtest.TextOf(ev))
			}
		}
	}
	if !unverified || !again || commits != 0 {
		t.Errorf("undecided %t, found sound %t, %d commits are missing", unverified, again, commits)
	}
}
