package fsynccheck

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const uuid = "dcb37767-f6b3-4074-a7c4-4e77c1d30a3b"

func testTracer() *Tracer {
	return &Tracer{Watched: func(dev string) bool {
		return slices.Contains(
			[]string{"254,0", "254,16", "254,32"}, dev)
	}, Devices: func(u string) []string {
		if u == uuid {
			return []string{"254,0", "254,16"}
		}
		return nil
	}}
}

// traceLines are lines as the kernel writes them, with programs whose names imitate such lines.
var traceLines = strings.Split(`          fsload-155     [000] .....    12.000100: sys_fsync(fd: 5)
          fsload-155     [000] .....    12.000200: block_bio_queue: 254,0 WS 2048 + 8 [fsload]
          fsload-155     [000] .....    12.000300: block_bio_queue: 254,0 WSM 4096 + 32 [fsload]
          fsload-155     [000] .....    12.000300: block_bio_queue: 8,0 WS 4096 + 32 [fsload]
          fsload-155     [000] .....    12.000300: block_bio_queue: 254,0 FWS 0 + 0 [fsload]
          fsload-156     [000] .....    12.000300: block_bio_queue: 254,0 WS 9999 + 8 [fsload]
 a -1 [0] . 1.0:-157     [001] d..1.    12.000350: sys_sync()
 a -1 [0] . 1.0:-157     [001] d..1.    12.000360: ext4_sync_fs: dev 254,32 wait 1
 a -1 [0] . 1.0:-157     [001] d..1.    12.000360: block_bio_queue: 254,32 WS 0 + 8 [a]
 a -1 [0] . 1.0:-157     [001] d..1.    12.000370: btrfs_sync_fs: `+uuid+`: wait = 1
          fsload-155     [002] .....    12.000400: sys_fsync -> 0x0
 a -1 [0] . 1.0:-157     [001] d..1.    12.000410: sys_sync -> 0x0
          fsload-155     [000] .....    12.000500: sys_fdatasync(fd: 5)
          fsload-155     [000] .....    12.000600: sys_fdatasync -> 0xfffffffffffffffb
          fsload-155     [000] .....    12.000600: sys_fdatasync -> 0x0
          fsload-158     [000] .....    12.000700: sys_msync(start: 7f12, len: 1000, flags: 4)
          fsload-158     [000] .....    12.000800: sys_msync -> 0x0
          fsload-159     [000] .....    12.000900: sys_syncfs(fd: 4)
CPU:0 [LOST 12 EVENTS]
          fsload-159     [000] .....    12.001000: sys_syncfs -> 0x0
not a line of the kernel
          fsload-x       [000] .....    12.000900: sys_sync()
          fsload-160     [000] .....    12.9: sys_sync()
          fsload-160     [000] .....`, "\n")

// traceCalls are the calls that traceLines describe.
var traceCalls = []Call{
	{Name: "fsync", Thread: 155, Began: 12000099000, Returned: 12000401000, Wrote: []Range{
		{Dev: "254,0", Sector: 2048, Sectors: 8, At: 12000199000}, {Dev: "254,0", Sector: 4096,
			Sectors: 32, At: 12000299000, Metadata: true}}},
	{Name: "sync", Thread: 157, Began: 12000349000, Returned: 12000411000,
		Synced: []string{"254,32", "254,0", "254,16"}},
	{Name: "msync", Thread: 158, Began: 12000699000, Returned: 12000801000},
}

// TestTracer reads lines of a trace, and writes and parses the calls.
func TestTracer(t *testing.T) {
	tracer := testTracer()
	var got []Call
	losses := 0
	for _, line := range traceLines {
		call, lost := tracer.Line(line)
		if call != nil {
			got = append(got, *call)
		}
		if lost {
			losses++
		}
	}
	if d := cmp.Diff(traceCalls, got); d != "" || losses != 1 {
		t.Errorf("losses %d (-want +got):\n%s", losses, d)
	}
	for _, c := range traceCalls {
		rest, ok := strings.CutPrefix(c.String(), "call ")
		parsed, err := parseCall(rest)
		if d := cmp.Diff(c, parsed); d != "" || err != nil || !ok {
			t.Errorf("%q: %v %s", c.String(), err, d)
		}
	}
	for range 3 * maxParts {
		tracer.Line(traceLines[0][:17] + "1 [000] ..... 13.000000: sys_fsync(fd: 5)")
	}
	tracer.Line(traceLines[0])
	for range 3 * maxParts {
		tracer.Line(traceLines[1])
	}
	call, _ := tracer.Line(traceLines[10])
	if call == nil || len(call.Wrote) != maxParts || len(call.String()) > maxLine {
		t.Error("a call with more writes than a line has room for")
	}
}

func TestParseCallErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"fsync 1 2", "3 fields"},
		{"write 1 2 3", `call "write"`},
		{"fsync x 2 3", "invalid syntax"},
		{"fsync 1 x 3", "invalid syntax"},
		{"fsync 1 -2 3", "the time -2"},
		{"fsync 1 2 4611686018427387904", "the time 4611686018427387904"},
		{"fsync 1 3 2", "returned at 2, before it began at 3"},
		{"fsync 1 2 3 254,0:1", "expected DEV:SECTOR+SECTORS@SINCE"},
		{"fsync 1 2 3 254,0:x+1@0", "invalid syntax"},
		{"fsync 1 2 3 254,0:18014398509481984+1@0", "out of range"},
		{"fsync 1 2 3 254,0:1+4294967296@0", "out of range"},
		{"fsync 1 2 3 254,0:1+0@0", "no sectors"},
		{"fsync 1 2 3 254,0:1+1@2", "later than the return"},
		{"fsync 1 2 3" + strings.Repeat(" a", maxParts+1), "517 fields"},
	} {
		if _, err := parseCall(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.line, err, c.want)
		}
	}
}

// TestEventNames checks that each event has a filter or none, and that the order is fixed.
func TestEventNames(t *testing.T) {
	if names := EventNames(); len(names) != len(Events) || !slices.IsSorted(names) {
		t.Error(names)
	}
}

// FuzzTracer checks that a tracer turns any text into lines that the host accepts, in bounded
// memory.
func FuzzTracer(f *testing.F) {
	f.Add("          fsload-155     [000] .....    12.000100: sys_fsync(fd: 5)\n" +
		"          fsload-155     [000] .....    12.000200: block_bio_queue: 254,0 WS 2048 + 8 [f]\n" +
		"          fsload-155     [000] .....    12.000400: sys_fsync -> 0x0")
	f.Add("CPU:0 [LOST 12 EVENTS]")
	f.Fuzz(func(t *testing.T, text string) {
		tracer := testTracer()
		for line := range strings.SplitSeq(text, "\n") {
			call, _ := tracer.Line(line)
			if call == nil {
				continue
			}
			got := call.String()
			if parsed, err := parseCall(strings.TrimPrefix(got, "call ")); err != nil ||
				len(got) > maxLine || cmp.Diff(*call, parsed) != "" {
				t.Fatalf("%q: %v", got, err)
			}
		}
	})
}
