package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// reproducerName is the file of an error's folder that is for people.
const reproducerName = "what.txt"

// writeReproducer says what was done, what is wrong, and how to see it again.
func writeReproducer(dir string, e *Error, disks []*Disk) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\nWhat was done:\n", e.Kind, e.Summary)
	for i, did := range e.Did {
		for _, line := range did {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, line)
		}
	}
	for _, f := range e.Fail {
		fmt.Fprintf(&b, "In the last step the kernel was made to fail at %s (hit %d).\n", f.Site, f.At)
	}
	if len(e.Unscheduled) > 0 {
		fmt.Fprintf(&b, "%s ran though it was not their turn: this may not replay.\n", strings.Join(e.Unscheduled, ", "))
	}
	if e.ProcessCrash != nil {
		fmt.Fprintf(&b, "\nThe crash: the program of step %d was ended after these system calls, and the kernel went on: %s\n", len(e.Steps), strings.Join(e.ProcessCrash.Calls, ", "))
	}
	if e.Crash != nil {
		fmt.Fprintf(&b, "\nThe crash: %s of what step %d asked for, after record %d of the log. %d writes that had been submitted did not reach the disk%s\n",
			e.Crash.Epoch, len(e.Steps), e.Crash.After, len(e.Crash.Missing), missing(e.Crash.Missing))
	}
	if e.Crash != nil && len(e.Crash.Early) > 0 {
		fmt.Fprintf(&b, "%d blocks that the kernel had marked dirty, and had not submitted yet, are on the disk: it may write them whenever it likes.\n", len(e.Crash.Early))
		for _, w := range e.Crash.Early {
			fmt.Fprintf(&b, "  %d bytes at sector %d of disk %d\n", w.Bytes, w.Sector, w.Disk)
		}
	}
	if e.Crash != nil && e.Crash.Second != nil {
		fmt.Fprintf(&b, "\nAnd a second crash while the disk was recovered from the first: %d writes of the recovery did not reach the disk%s\n",
			len(e.Crash.Second.Missing), missing(e.Crash.Second.Missing))
	}
	fmt.Fprintf(&b, "\nAgain:\n  fsward explore replay %s\n", dir)
	for _, d := range disks {
		if e.Crash != nil {
			fmt.Fprintf(&b, "The disk as the crash left it, by hand:\n  zstd -d %s/disk%d.crash.zst -o crash.img; mount -o loop crash.img /mnt\n", dir, d.Number)
		}
		fmt.Fprintf(&b, "All writes and flushes, on the disk from before:\n  zstd -d %s/disk%d.base.zst -o base.img; fsward replay --base base.img %[1]s/disk%[2]d.log\n", dir, d.Number)
	}
	return os.WriteFile(filepath.Join(dir, reproducerName), []byte(b.String()), 0o644)
}

// missing lists bios.
func missing(bios []uint64) string {
	if len(bios) == 0 {
		return "."
	}
	return ": bio " + strings.Trim(strings.ReplaceAll(fmt.Sprint(bios), " ", ", "), "[]") + "."
}
