package hostd

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
	"fsward/interp/detect"
)

// What is recorded of several disks is replayed with the same verdicts, in the same order, devices that come
// and go included; and each log by itself makes its disk what it is.
func TestReplayOfSeveralDisks(t *testing.T) {
	made := madeDisks(t, 2, 512<<20, "-d", "raid1", "-m", "raid1")
	images := slices.Concat(made, blankDisks(t, 1, 512<<20))
	rec := recordDisks(t, images, filled+`btrfs -q replace start -B -f 1 $DISK2 .; cp -r d e; sync -f .
		btrfs -q balance start -f -dconvert=raid0 .; rm -r d; echo x >> e/log; sync e/log; sync -f .; btrfs -q device add -f $DISK0 .; cp -r e g; sync -f .`)
	seen := rec.replay(t)
	if got, want := commitsOf(seen), commitsOf(rec.seen); got != want || strings.Count(got, "\n") < 5 {
		t.Errorf("replayed:\n%sand live:\n%s", got, want)
	}
	for _, ev := range seen {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", textOf(ev))
		}
	}
	for i, d := range rec.disks {
		mustBecome(t, d, images[i])
	}
}

// A replay ends with the first commit that does not hold, on whichever disk; and needs all disks and all logs.
func TestReplayOfSeveralDisksEnds(t *testing.T) {
	rec := recordDisks(t, madeDisks(t, 2, 256<<20, "-d", "raid0", "-m", "raid1"), "echo one > one; sync -f .; echo two > two; sync -f .")
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(dir+"/btrfs", 0o700), os.WriteFile(dir+"/btrfs/never.pl", []byte(`% Rule 900. No commit holds.
violation(900, 0, k(0, super_block, 0)) :- new(0, k(0, super_block, 0), generation, _).
`), 0o600)); err != nil {
		t.Fatal(err)
	}
	var seen events
	sum, err := Replay(t.Context(), ReplayConfig{Disks: rec.disks, FS: detect.Auto, Rules: RulesConfig{Dir: dir}, Sinks: []Sink{&seen}}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Commits != 1 || sum.Outcome() != change.Violated || seen[len(seen)-1].Action != Refused || seen[len(seen)-1].Disk != rec.seen[len(rec.disks)].Disk {
		t.Errorf("%+v, %s; live: %s", sum, commitsOf(seen), commitsOf(rec.seen))
	}
	for _, tc := range []struct {
		name  string
		disks []ReplayDisk
		want  string
	}{
		{"one disk", rec.disks[:1], "all disks of a file system have to be given together"},
		{"a log twice", []ReplayDisk{rec.disks[0], {Name: "disk1", Base: rec.disks[1].Base, Log: rec.disks[0].Log}}, "of the same recording"},
	} {
		if _, err := Replay(t.Context(), ReplayConfig{Disks: tc.disks, FS: detect.Auto}, zaptest.NewLogger(t)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// recordedDisks are several disks with what was written to them and what the guard said of it.
type recordedDisks struct {
	disks []ReplayDisk
	seen  events
}

// attachRecorded is attachDisks with copies of the images as they are, and records.
func attachRecorded(t *testing.T, images []string) (*rig, []ReplayDisk) {
	t.Helper()
	dir := t.TempDir()
	var disks []ReplayDisk
	r := attachDisks(t, images, func(c *Config) {
		c.Record = dir + "/log"
		for _, d := range c.Disks {
			run(t, "cp", "--sparse=always", d.Path, dir+"/"+d.Name)
			disks = append(disks, ReplayDisk{Name: d.Name, Base: dir + "/" + d.Name, Log: recordPath(*c, d.Name)})
		}
	})
	return r, disks
}

// recordDisks records what a script does to the file system on some disks.
func recordDisks(t *testing.T, images []string, script string) recordedDisks {
	t.Helper()
	r, disks := attachRecorded(t, images)
	r.mustMount("btrfs")
	r.mustRun(r.diskVariables() + script)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.noAlarm()
	r.close()
	return recordedDisks{disks, r.seen.events()}
}

func (r recordedDisks) replay(t *testing.T) events {
	t.Helper()
	var seen events
	if _, err := Replay(t.Context(), ReplayConfig{Disks: r.disks, FS: detect.Auto, Sinks: []Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	return seen
}

// commitsOf is a line for each commit: on which disk it was, and how much it changed.
func commitsOf(evs events) string {
	var b strings.Builder
	for _, ev := range evs {
		if ev.Kind == KindCommit || ev.Kind == KindLogCommit {
			b.WriteString(strings.Join([]string{ev.Disk, commitText(ev), verdictText(ev)}, " ") + "\n")
		}
	}
	return b.String()
}

// mustBecome does what a log says to its base, by itself, and compares what comes of it with an image.
func mustBecome(t *testing.T, d ReplayDisk, image string) {
	t.Helper()
	tape, err := trace.Open(d.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer tape.Close()
	out, err := os.OpenFile(d.Base, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for {
		e, err := tape.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Flags&trace.Discard != 0 { // what is read there afterwards is not defined; a file of ours reads zeros
			e.Data = make([]byte, e.Len)
		}
		if _, err := out.WriteAt(e.Data, int64(e.Off)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "cmp", d.Base, image)
}
