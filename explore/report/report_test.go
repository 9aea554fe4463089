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

// runToy explores a toy that says to be a file system.
func runToy(t *testing.T, bug exploretest.Bug, fs, mount, checker string) Run {
	t.Helper()
	origin, err := json.Marshal(spec.Run{Spec: spec.Spec{Checker: checker, Layers: []spec.Layer{{Component: fs, MountOptions: mount}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, dir := exploretest.New(), t.TempDir()
	cfg := explore.Config{System: s, Dir: dir, Origin: origin, Depth: 2, Strategy: explore.BreadthFirst,
		Stack: explore.Stack{Top: exploretest.NewToy(s, bug), Checker: &exploretest.ToyChecker{Keys: 1, Values: 1}}}
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
	runs := []Run{runToy(t, "", "ext3", "", "sync"), runToy(t, exploretest.DroppedFlush, "vfat", "noatime,<b>", "sync"), runToy(t, "", "ext3", "", "reasonable")}
	runs[1].Interrupted, runs[1].Errors[0].Crash.Second = 12, &explore.SecondCrash{Missing: []uint64{3, 4}}
	var b bytes.Buffer
	if err := Write(&b, runs); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<th>ext3</th>", "vfat -o noatime,&lt;b&gt;", "✗ synced byte lost", `<td class="none">–`, "key 0 has 0, want 1", `<rect class="lost"`, "and 12 that crashes during recovery left", "recovered: 2 writes of the recovery", "crash</text>",
		"fsward explore replay " + runs[1].Dir, "1. toy put 0 1", "2. toy sync"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q", want)
		}
	}
	if n := strings.Count(text, `<td class="bad"`); n != 1 {
		t.Errorf("%d cells with errors", n)
	}
	if strings.Contains(text, "<b>") {
		t.Error("what users name is not escaped")
	}
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder without a run")
	}
}

// What a guest named stands in the table as it is, and makes no cell, no line and no tag.
func TestMarkdown(t *testing.T) {
	bad := Run{Dir: "out", System: "vfat", Spec: spec.Run{Spec: spec.Spec{Checker: "sync", Layers: []spec.Layer{{Component: "vfat"}}}}}
	bad.Asked = map[string]uint64{"sync": 3, "fsync": 2, explore.Recovered: 3}
	bad.Errors = []Error{{Error: explore.Error{Kind: "lost", Property: "sync", Summary: "/a|b\\<i>`x` is gone\nand more", Count: 2}, Path: "out/001"},
		{Error: explore.Error{Kind: "wrong result", Count: 1}, Path: "out/002"}}
	mounted := bad
	mounted.Spec.Layers, mounted.Asked, mounted.Errors = []spec.Layer{{Component: "vfat", MountOptions: "sync"}}, map[string]uint64{"mount -o sync": 7}, nil
	mounted.Complete = true
	through := mounted
	through.Spec.Layers, through.Spec.Through, through.Asked = bad.Spec.Layers, true, map[string]uint64{"sync": 5}
	var b bytes.Buffer
	if err := WriteMarkdown(&b, []Run{bad, mounted, through}); err != nil {
		t.Fatal(err)
	}
	want := `| | sync | fsync | mount -o sync | recovery | without a crash |
|---|---|---|---|---|---|
| vfat | ✗ lost | ✓ 2 | ✓ 7, all | ✓ 3 | ✗ wrong result |
| vfat, disks without a cache | ✓ 5, all |  |  |  |  |

- vfat, sync: **lost**, 2 times (out/001): /a\|b\\\<i\>\` + "`x\\`" + ` is gone
- vfat, without a crash: **wrong result**, 1 times (out/002): 
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// The page loads nothing, runs nothing, and takes no text of a guest for its own.
func TestSelfContained(t *testing.T) {
	hostile := "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\x00\xff"
	e := explore.Error{Kind: hostile, Property: hostile, Summary: hostile, Dir: hostile, Did: [][]string{{hostile}}, Crash: &explore.CrashError{Epoch: hostile, After: 2},
		Fail: []explore.InjectedFault{{Site: hostile}}, Count: 1}
	r := Run{Dir: `"><script>`, System: hostile, Spec: spec.Run{Spec: spec.Spec{Checker: hostile, Layers: []spec.Layer{{Component: hostile, MountOptions: hostile}}}},
		Errors: []Error{{e, hostile, pictureOf(e, []explore.Tick{{What: hostile, Record: 1}, {What: "write", Record: 2, Sectors: 1 << 60, Sector: 1 << 63}, {What: "flush", Record: 3}})}}}
	var b bytes.Buffer
	if err := Write(&b, []Run{r}); err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?i)<script|<img|<link|<iframe|@import|url\(|https?:|\son[a-z]+="`).FindString(b.String()); m != "" {
		t.Errorf("the page has %q", m)
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "ZgotmplZ") {
		t.Error("the page has what templates leave of what they do not trust")
	}
}
