package guard_test

import (
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// TestReferenceJudgesDeletions checks that the reference engine finds nothing in the last commit of
// a captured Btrfs, which deletes all files. The commits before have other kinds of changes: see
// TestReplayOfCapturedLogs in hostd/offline.
func TestReferenceJudgesDeletions(t *testing.T) {
	const commits = 21
	const name = "btrfs-single-4k"
	rec := guardtest.Recorded{Base: capturedBase(t, name), Log: capturedLog(t, name)}
	seen, _ := replaySwitched(t, rec, guard.EngineReference, "", commits-1)
	judged, last := 0, (*guard.Event)(nil)
	for _, ev := range seen {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", guardtest.TextOf(ev))
		}
		if ev.Kind == guard.KindCommit {
			judged, last = judged+1, ev
		}
	}
	if judged != commits || last.Records < 50_000 {
		t.Errorf("%d commits were judged, want %d; the last: %+v", judged, commits, last)
	}
}
