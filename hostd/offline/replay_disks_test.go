package offline_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// TestReplayOfSeveralDisks checks that a replay of several disks has the verdicts of the recording
// in the same order, also when devices come and go, and that each log turns the base of its disk
// into the disk.
func TestReplayOfSeveralDisks(t *testing.T) {
	made := guardtest.MadeDisks(t, 2, 512<<20, "-d", "raid1", "-m", "raid1")
	images := slices.Concat(made, guardtest.BlankDisks(t, 1, 512<<20))
	rec := guardtest.RecordDisks(t, images, guardtest.Filled+`
		btrfs -q replace start -B -f 1 $DISK2 .; cp -r d e; sync -f .
		btrfs -q balance start -f -dconvert=raid0 .
		rm -r d; echo x >> e/log; sync e/log; sync -f .
		btrfs -q device add -f $DISK0 .; cp -r e g; sync -f .`)
	seen := replayDisks(t, rec)
	if got, want := commitsOf(seen), commitsOf(rec.Seen); got != want || strings.Count(got, "\n") < 5 {
		t.Errorf("replayed:\n%sand live:\n%s", got, want)
	}
	for _, ev := range seen {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", guardtest.TextOf(ev))
		}
	}
	for i, d := range rec.Disks {
		mustBecome(t, d, images[i])
	}
}

// TestReplayOfSeveralDisksEnds checks that a replay ends with the first commit that does not hold,
// on whichever disk, and that it needs all disks and all logs.
func TestReplayOfSeveralDisksEnds(t *testing.T) {
	rec := guardtest.RecordDisks(t, guardtest.MadeDisks(t, 2, 256<<20, "-d", "raid0", "-m", "raid1"),
		"echo one > one; sync -f .; echo two > two; sync -f .")
	dir := t.TempDir()
	const never = `% Rule 900. No commit holds.
violation(900, 0, k(0, super_block, 0)) :- new(0, k(0, super_block, 0), generation, _).
`
	if err := errors.Join(os.Mkdir(dir+"/btrfs", 0o700),
		os.WriteFile(dir+"/btrfs/never.pl", []byte(never), 0o600)); err != nil {
		t.Fatal(err)
	}
	var seen guardtest.Events
	sum, err := offline.Replay(t.Context(), offline.ReplayConfig{Disks: rec.Disks, FS: detect.Auto,
		Rules: guard.RulesConfig{Dir: dir}, Sinks: []guard.Sink{&seen}}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Commits != 1 || sum.Outcome() != change.Violated ||
		seen[len(seen)-1].Action != guard.Refused ||
		seen[len(seen)-1].Disk != rec.Seen[len(rec.Disks)].Disk {
		t.Errorf("%+v, %s; live: %s", sum, commitsOf(seen), commitsOf(rec.Seen))
	}
	for _, tc := range []struct {
		name  string
		disks []offline.ReplayDisk
		want  string
	}{
		{"one disk", rec.Disks[:1], "all disks of a file system have to be given together"},
		{"a log twice", []offline.ReplayDisk{rec.Disks[0],
			{Name: "disk1", Base: rec.Disks[1].Base, Log: rec.Disks[0].Log}},
			"belongs to another recording"},
	} {
		if _, err := offline.Replay(t.Context(), offline.ReplayConfig{Disks: tc.disks, FS: detect.Auto},
			zaptest.NewLogger(t)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func replayDisks(t *testing.T, r guardtest.RecordedDisks) guardtest.Events {
	t.Helper()
	var seen guardtest.Events
	if _, err := offline.Replay(t.Context(), offline.ReplayConfig{Disks: r.Disks, FS: detect.Auto,
		Sinks: []guard.Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	return seen
}

// commitsOf returns a line for each commit: its disk, and how much it changed.
func commitsOf(evs guardtest.Events) string {
	var b strings.Builder
	for _, ev := range evs {
		if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
			b.WriteString(strings.Join([]string{ev.Disk, guard.CommitText(ev), guard.VerdictText(ev)}, " ") +
				"\n")
		}
	}
	return b.String()
}

// mustBecome performs a single log on its base, and compares the result with an image.
func mustBecome(t *testing.T, d offline.ReplayDisk, image string) {
	t.Helper()
	recording, err := trace.Open(d.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	out, err := os.OpenFile(d.Base, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for {
		e, err := recording.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		// the contents of a discarded range are undefined; our file reads zeros
		if e.Flags&trace.Discard != 0 {
			e.Data = make([]byte, e.Len)
		}
		if _, err := out.WriteAt(e.Data, int64(e.Off)); err != nil {
			t.Fatal(err)
		}
	}
	guardtest.Run(t, "cmp", d.Base, image)
}
