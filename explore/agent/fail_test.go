package agent

import (
	"bytes"
	"os/exec"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/ekm"
)

// TestFailAt checks the encoding of FailAt and of hits.
func TestFailAt(t *testing.T) {
	want := []ekm.Point{ekm.Slab, ekm.BufferRead}
	o := FailAt(want, []uint32{1, 4}, 77)
	f, err := decodeFailAt(&o)
	if err != nil || !slices.Equal(f.Points, want) ||
		!slices.Equal(f.values(), []uint32{0, 1, 0, 0, 1}) || !slices.Equal(f.Threads, []uint32{77}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range [][]byte{{1}, {0, 1}, {0, 1, 0xff, 0xff, 0xff, 0xff, 1}, {0, 0, 1}} {
		if _, err := decodeFailAt(&Op{Code: opFailAt, data: bad}); err == nil {
			t.Errorf("decodeFailAt accepts %v", bad)
		}
	}
	hits := []Hit{{ekm.Slab, 1 << 60, true, "ext4_mkdir+0x10"}, {ekm.PageRead, 2, false, ""}}
	got, err := DecodeHits(EncodeHits(hits))
	if err != nil || !slices.Equal(got, hits) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := DecodeHits([]byte{1, 2}); err == nil {
		t.Error("DecodeHits accepts an incomplete hit")
	}
}

// TestFailingArgs checks that a command with faults stops before its first step, and then does what
// it does without them: a shell line with its arguments, and a program.
func TestFailingArgs(t *testing.T) {
	for _, args := range [][]string{
		{"sh", "-c", "echo \"$0 $1\"; exit 3", "a", "b c"},
		{"sh", "-c", "printf 'a b c\\n'; exit 3"},
		{"env", "sh", "-c", "echo a b c; exit 3"},
	} {
		cmd := exec.Command(failingArgs(args)[0], failingArgs(args)[1:]...)
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if err := awaitStop(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		if out.Len() != 0 {
			t.Errorf("%q printed %q before it stopped", args, out.String())
		}
		if err := unix.Kill(cmd.Process.Pid, unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); out.String() != "a b c\n" || code != 3 {
			t.Errorf("%q prints %q and ends with %d", args, out.String(), code)
		}
	}
}
