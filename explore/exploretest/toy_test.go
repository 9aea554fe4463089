package exploretest

import (
	"context"
	"testing"

	"fsward/explore"
	"fsward/explore/ramdisk"
)

// TestToy checks that synced keys are on the disk and others are not, that a snapshot restores the
// disk, and that the log holds the bios.
func TestToy(t *testing.T) {
	s, ctx := New(), context.Background()
	toy := NewToy(s, "")
	e := explore.NewEnv(ctx, s, new(explore.Chooser))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	holds := func(key, want string) {
		t.Helper()
		if exit, err := e.Run("toy", "get", key); err != nil || string(exit.Stdout) != want {
			t.Errorf("key %s has value %s, want %s; %v", key, exit.Stdout, want, err)
		}
	}
	must(s.MakeDisk(ctx, 0, 64<<10))
	must(toy.Init(e))
	must(s.Snapshot(ctx, 0, "new"))
	must(s.Log(ctx, 0, true))
	must(toy.Mount(e))
	must(command(e, "toy", "put", "1", "7"))
	must(command(e, "toy", "sync"))
	must(command(e, "toy", "put", "2", "8"))
	must(toy.Mount(e)) // without an unmount: a crash
	holds("1", "7")
	holds("2", "0")
	must(e.Mark("here"))
	must(s.Restore(ctx, 0, "new"))
	must(toy.Mount(e))
	holds("1", "0")

	records, err := s.Records(ctx)
	must(err)
	var writes, flushes, marks, reads int
	for i, r := range records {
		switch {
		case r.Seq != uint64(i+1):
			t.Errorf("record %d has number %d", i, r.Seq)
		case r.Op == ramdisk.Read:
			reads++
		case r.Type == ramdisk.Submit && r.Op == ramdisk.Write:
			writes++
		case r.Type == ramdisk.Submit && r.Op == ramdisk.Flush:
			flushes++
		case r.Type == ramdisk.Mark:
			marks++
		}
	}
	if writes != 1 || flushes != 1 || marks != 1 || len(records)-reads != 5 || reads == 0 {
		t.Errorf("%d records: %d writes, %d flushes, %d marks and %d records of reads",
			len(records), writes, flushes, marks, reads)
	}
}

// TestToyBugs checks by the number of records that two bugs leave out a write or a flush.
func TestToyBugs(t *testing.T) {
	for _, bug := range []Bug{DroppedFlush, EarlySync} {
		s, ctx := New(), context.Background()
		toy := NewToy(s, bug)
		e := explore.NewEnv(ctx, s, new(explore.Chooser))
		_ = s.MakeDisk(ctx, 0, 64<<10)
		_ = toy.Init(e)
		_ = toy.Mount(e)
		_, _ = s.Records(ctx)
		_ = s.Log(ctx, 0, true)
		_ = command(e, "toy", "put", "1", "7")
		_ = command(e, "toy", "put", "2", "7")
		if err := command(e, "toy", "sync"); err != nil {
			t.Fatal(err)
		}
		records, _ := s.Records(ctx)
		// Without a bug there are six: submission and completion of two writes and a flush.
		want := map[Bug]int{DroppedFlush: 4, EarlySync: 4}[bug]
		if len(records) != want {
			t.Errorf("%s: %d records, want %d", bug, len(records), want)
		}
	}
}
