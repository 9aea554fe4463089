package live_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fsward/blocktap"
	"fsward/explore/audit"
	"fsward/explore/audit/live"
	"fsward/explore/crash"
	"fsward/hostd/recording"
)

// A disk without a file system is recorded. Its crash states are not audited, and that is said.
func ExampleFollow() {
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	base, log := filepath.Join(dir, "base"), filepath.Join(dir, "log")
	if err := os.WriteFile(base, make([]byte, 1<<20), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	rec, err := recording.Create(recording.Config{
		Disks: []recording.Disk{{Log: log, Base: base, Size: 1 << 20}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	rec.Start(func(err error) { fmt.Println(err) })
	write := blocktap.Request{Op: blocktap.OpWrite, Len: 512, Data: make([]byte, 512)}
	if err := rec.Recorder(0).Log(&write); err != nil {
		fmt.Println(err)
	}
	if err := rec.Close(); err != nil {
		fmt.Println(err)
	}
	ended := make(chan struct{})
	close(ended)
	totals, err := live.Follow(context.Background(), live.Config{
		Audit: audit.Config{FS: "auto", Crash: crash.Options{Limit: 20}},
		Base:  base, Log: log, Poll: time.Millisecond, Ended: ended,
		Report: func(r live.Report) error {
			if r.Skipped != "" {
				fmt.Printf("from entry %d on: %s\n", r.From.Entry, r.Skipped)
			}
			return nil
		}})
	fmt.Println(totals.Entries, totals.Skipped, err)
	// Output:
	// from entry 0 on: the disk cannot be audited: no file system that fsward knows (btrfs, ext3)
	// 1 1 <nil>
}
