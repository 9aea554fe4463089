package report

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/exploretest"
	"fsward/explore/spec"
)

// newSpec returns the description of a run of a checker on one file system.
func newSpec(fs, mount, checker string) spec.Run {
	layers := []spec.Layer{{Component: fs, MountOptions: mount}}
	return spec.Run{Spec: spec.Spec{Checker: checker, Layers: layers}}
}

// runToy explores a toy file system. Its run claims to be of the file system fs.
func runToy(t *testing.T, bug exploretest.Bug, fs, mount, checker string) Run {
	t.Helper()
	origin, err := json.Marshal(newSpec(fs, mount, checker))
	if err != nil {
		t.Fatal(err)
	}
	s, dir := exploretest.New(), t.TempDir()
	cfg := explore.Config{
		System: s, Dir: dir, Origin: origin, Depth: 2, Strategy: explore.BreadthFirst,
		Stack: explore.Stack{
			Top:     exploretest.NewToy(s, bug),
			Checker: &exploretest.ToyChecker{Keys: 1, Values: 1},
		},
	}
	if _, err := explore.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReport(t *testing.T) {
	runs := []Run{
		runToy(t, "", "ext3", "", "sync"),
		runToy(t, exploretest.DroppedFlush, "vfat", "noatime,<b>", "sync"),
		runToy(t, "", "ext3", "", "reasonable"),
	}
	runs[1].Interrupted = 12
	runs[2].Edges, runs[2].Seconds = 40, 8
	runs[2].Coverage = &explore.Coverage{
		Growth: []explore.Growth{{Seconds: 2, Edges: 30}, {Seconds: 4, Edges: 40}},
		Files:  []explore.FileCover{{Path: "fs/ext4/namei.c", Reached: 3, Points: 12}},
	}
	runs[1].Errors[0].Crash.Second = &explore.SecondCrash{Missing: []uint64{3, 4}}
	var b bytes.Buffer
	if err := Write(&b, runs); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"<th>ext3</th>", "vfat -o noatime,&lt;b&gt;", "✗ synced byte lost", `<td class="none">–`,
		"key 0 has 0, want 1", `<rect class="lost"`, "12 left by crashes during recovery",
		"during the recovery: 2 writes", "crash</text>", "fsward explore replay " + runs[1].Dir,
		"1. toy put 0 1", "2. toy sync",
		"ran 40 edges", `points="0,160 240.0,160.0 240.0,40.0 480.0,40.0 480.0,0.0 960,0.0"`,
		"<td>fs/ext4/namei.c</td><td>3 of 12 points, 25 %</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not contain %q", want)
		}
	}
	if n := strings.Count(text, `<td class="bad"`); n != 1 {
		t.Errorf("%d cells with errors, want 1", n)
	}
	if strings.Contains(text, "<b>") {
		t.Error("mount options of the user are not escaped")
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder without a run gives no error")
	}
}

// TestMarkdown: text from a guest is escaped, and adds no cell, line or tag to the table.
func TestMarkdown(t *testing.T) {
	bad := Run{Dir: "out", System: "vfat", Spec: newSpec("vfat", "", "sync")}
	bad.Asked = map[string]uint64{"sync": 3, "fsync": 2, explore.Recovered: 3}
	bad.Totals = explore.Totals{States: 5, Runs: 9, Deepest: 2, CrashStates: 3}
	bad.Errors = []Error{
		{
			Error: explore.Error{
				Kind: "lost", Property: "sync", Summary: "/a|b\\<i>`x` is gone\nand more", Count: 2,
				Shown: 3, Replays: 3,
			},
			Path: "out/001",
		},
		{Error: explore.Error{Kind: "wrong result", Count: 1}, Path: "out/002"},
	}
	mounted := bad
	mounted.Spec = newSpec("vfat", "sync", "sync")
	mounted.Asked, mounted.Errors = map[string]uint64{"mount -o sync": 7}, nil
	mounted.Complete = true
	through := mounted
	through.Spec, through.Asked = newSpec("vfat", "", "sync"), map[string]uint64{"sync": 5}
	through.Spec.Through = true
	through.Complete, through.Unjudged = false, 2
	var b bytes.Buffer
	if err := WriteMarkdown(&b, []Run{bad, mounted, through}); err != nil {
		t.Fatal(err)
	}
	const tooSlow = "; the run ended before all was explored; " +
		"2 not judged, since a command was too slow"
	want := `| | sync | fsync | mount -o sync | recovery | without a crash |
|---|---|---|---|---|---|
| vfat | ✗ lost | ✓ 2 | ✓ 7, all | ✓ 3 | ✗ wrong result |
| vfat, disks without a cache | ✓ 5 |  |  |  |  |

The runs behind the table:

- vfat, sync: 5 states in 9 steps to depth 2, 3 crash disks; the run ended before all was explored
- vfat, sync: 5 states in 9 steps to depth 2, 3 crash disks; complete
- vfat, sync: 5 states in 9 steps to depth 2, 3 crash disks` + tooSlow + `

- vfat, sync: **lost**, 2 times (out/001): /a\|b\\\<i\>\` + "`x\\`" + ` is gone
- vfat, without a crash: **wrong result**, 1 time (out/002, not replayed, because the run ended): 
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

var activeContent = regexp.MustCompile(
	`(?i)<script|<img|<link|<iframe|@import|url\(|https?:|\son[a-z]+="`)

// TestSelfContained: the page loads and runs nothing, even if all texts from the guest are hostile.
func TestSelfContained(t *testing.T) {
	hostile := "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\x00\xff"
	e := explore.Error{
		Kind: hostile, Property: hostile, Summary: hostile, Dir: hostile,
		Did:   [][]string{{hostile}},
		Crash: &explore.CrashError{Epoch: hostile, After: 2},
		Fail:  []explore.InjectedFault{{Site: hostile}}, Count: 1,
	}
	ticks := []explore.Tick{
		{What: hostile, Record: 1},
		{What: "write", Record: 2, Sectors: 1 << 60, Sector: 1 << 63},
		{What: "flush", Record: 3},
	}
	r := Run{
		Dir: `"><script>`, System: hostile, Spec: newSpec(hostile, hostile, hostile),
		Errors: []Error{{e, hostile, pictureOf(e, ticks)}},
	}
	var b bytes.Buffer
	if err := Write(&b, []Run{r}); err != nil {
		t.Fatal(err)
	}
	if m := activeContent.FindString(b.String()); m != "" {
		t.Errorf("the page contains %q", m)
	}
	// html/template writes ZgotmplZ in place of a value that is unsafe in its context.
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "ZgotmplZ") {
		t.Error("the page contains NaN or ZgotmplZ")
	}
}

// TestStackRow: a stack with a checker of its own has a row with its name and the values of its
// parameters, and a column that all such stacks share.
func TestStackRow(t *testing.T) {
	s, err := spec.Load("sqlite")
	if err == nil {
		err = s.Set("synchronous", "off")
	}
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Dir: "out", Spec: spec.Run{Spec: s}, System: s.String()}
	r.Asked = map[string]uint64{"": 5}
	var b bytes.Buffer
	if err := WriteMarkdown(&b, []Run{r}); err != nil {
		t.Fatal(err)
	}
	want := "| | the stack's own |\n|---|---|\n| sqlite synchronous=off on ext4 | ✓ 5 |\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s\nwant %s", b.String(), want)
	}
}
