package checkers

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
	"fsward/explore/model"
)

// runWorkloads tests workloads on a fake file system with a planted bug.
func runWorkloads(t *testing.T, bug string, texts ...string) explore.Summary {
	t.Helper()
	return runRecalled(t, nil, bug, texts...)
}

// runRecalled is runWorkloads. Crash states whose recovered disks have the same key are checked by
// what the first one answered.
func runRecalled(t *testing.T, recovered func(*crash.State) (string, error), bug string,
	texts ...string) explore.Summary {
	t.Helper()
	s := exploretest.New()
	f := newFake(s, bug, model.Promises{})
	var list []b3.Workload
	for _, text := range texts {
		w, err := b3.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	dir, err := os.MkdirTemp("/dev/shm", "fsward-workloads-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	sum, err := explore.Run(ctx, explore.Config{
		System: s, Dir: dir, Strategy: explore.BreadthFirst, Depth: 1, Restore: explore.ByReplay,
		Recovered: recovered,
		Stack: explore.Stack{Top: f, Checker: &Workloads{
			Core: Core{At: fakeAt, Promises: fakePromises}, On: f, Count: uint32(len(list)),
			Workload: func(i uint32) (b3.Workload, error) { return list[i], nil },
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestNamesWithoutCapitals checks that a workload on a file system without capital letters uses the
// names that are listed, and opens its directories as such.
func TestNamesWithoutCapitals(t *testing.T) {
	w, err := b3.Parse("creat A/foo; rename A B; symlink A/X bar; fsync B; open /; fsync /")
	if err != nil {
		t.Fatal(err)
	}
	for _, lower := range []bool{true, false} {
		run := newWorkloadRun(&Core{Promises: model.Promises{NoCapitals: lower}})
		var got []string
		for _, s := range w.Complete() {
			for _, o := range run.translate(run.lower(s)) {
				if o.Code != model.Fsync && o.Code != model.Close {
					got = append(got, strings.TrimPrefix(o.String(), "open"))
				}
			}
		}
		want := []string{"mkdir(/A, 0755)", "(#56, /A/foo, O_RDWR|O_CREAT|O_EXCL)", "rename(/A, /B)",
			"symlink(/bar, A/X)", "(#56, /B, O_RDONLY)", "(#57, /, O_RDONLY)"}
		if lower {
			want = []string{"mkdir(/a, 0755)", "(#56, /a/foo, O_RDWR|O_CREAT|O_EXCL)",
				"rename(/a, /b)", "symlink(/bar, A/X)", "(#56, /b, O_RDONLY)", "(#57, /, O_RDONLY)"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("without capitals %t:\n%q, want\n%q", lower, got, want)
		}
	}
}

// TestWorkloads checks that each workload runs once, also if two lead to the same state.
func TestWorkloads(t *testing.T) {
	sum := runWorkloads(t, "", "creat foo; sync", "creat foo; sync", "mkdir A; fsync A",
		"link foo A/bar; fsync foo; unlink foo; sync",
		"write foo extend; fsync foo; truncate foo 0; sync",
		"creat A/foo; sync; rename A B; mkdir A; fsync A",
		"setxattr foo; sync; removexattr foo; fsync foo",
		"rename A A/C; sync", "dwrite foo append; sync",
		"mmapwrite foo 0 8192; mmapstore foo 4096 4096; msync foo 4096 4096",
		"mknod foo; rename foo A/bar; sync", "creat foo; sync; unlink foo; write foo append; sync",
		"link A/foo bar; fsync bar; write A/foo append; fdatasync A/foo")
	if sum.Runs != 13 || !sum.Complete || len(sum.Errors) > 0 || sum.CrashStates == 0 {
		t.Errorf("%+v", sum)
	}
}

// TestWorkloadsWithManyFiles checks workloads that make more files than a workload holds open, and
// more than the file system has inodes for: then it is full, and not wrong.
func TestWorkloadsWithManyFiles(t *testing.T) {
	const many = "repeat 100 creat A/f%d; sync; rename A B; creat foo; fsync foo; fsync B/f0"
	for _, bug := range []string{"", fewInodes} {
		sum := runWorkloads(t, bug, many)
		if sum.Runs != 1 || !sum.Complete || len(sum.Errors) > 0 || sum.CrashStates == 0 {
			t.Errorf("%s: %+v", bug, sum)
		}
	}
}

// TestWorkloadsFindBugs checks that planted bugs are found, and the error names the call that made
// a promise.
func TestWorkloadsFindBugs(t *testing.T) {
	for _, bug := range []struct{ bug, workload, property string }{
		{"fsync does nothing", "creat foo; fsync foo", "fsync"},
		{"sync does nothing", "mkdir A; sync", "sync"},
		{"dropped flush", "write foo append; fsync foo", "fsync"},
		{"unmount writes nothing", "creat foo; fsync foo; creat bar", ""},
	} {
		sum := runWorkloads(t, bug.bug, bug.workload)
		if sum.Broken() == 0 {
			t.Errorf("%s is not found: %+v", bug.bug, sum)
			continue
		}
		if e := sum.Errors[0]; e.Property != bug.property || e.Shown == 0 ||
			!strings.Contains(strings.Join(e.Did[0], " "), "foo") && bug.property != "sync" {
			t.Errorf("%s: %+v", bug.bug, e)
		}
	}
}

// TestWorkloadsAreRecalled checks that what a recovered disk answered counts for workloads that
// leave an equal one, although each check changes the disk, and that bugs are found as without.
func TestWorkloadsAreRecalled(t *testing.T) {
	texts := []string{"creat foo; fsync foo; creat bar; sync", "creat foo; sync; creat bar; fsync bar",
		"creat foo; fsync foo; creat bar; fsync bar", "creat foo; sync; creat bar; sync"}
	for _, bug := range []string{"", "fsync does nothing", "sync does nothing", "dropped flush"} {
		each, once := runWorkloads(t, bug, texts...), runRecalled(t, recoveredFake, bug, texts...)
		if each.CrashStates != once.CrashStates || len(each.Errors) != len(once.Errors) ||
			(len(each.Errors) > 0) != (bug != "") {
			t.Errorf("%q: each is recovered: %+v\nothers are recalled: %+v", bug, each, once)
		}
		if bug == "" && once.Recovered*2 > each.Recovered {
			t.Errorf("%d recoveries, and %d of each state", once.Recovered, each.Recovered)
		}
		t.Logf("%q: %d recoveries instead of %d", bug, once.Recovered, each.Recovered)
	}
}

// TestWorkloadsShareAPrefix checks that a persistence point is tested once if workloads that follow
// each other are the same up to it, and that a bug at it is found in the first.
func TestWorkloadsShareAPrefix(t *testing.T) {
	const a, b = "creat foo; sync; creat bar; fsync bar", "creat foo; sync; creat baz; fsync baz"
	one, both := runWorkloads(t, "", a), runWorkloads(t, "", a, b)
	if one.Asked["sync"] == 0 || both.Asked["sync"] != one.Asked["sync"] ||
		both.Asked["fsync"] != 2*one.Asked["fsync"] {
		t.Errorf("one workload asks %v, two ask %v", one.Asked, both.Asked)
	}
	if sum := runWorkloads(t, "sync does nothing", a, b); sum.Broken() != 1 {
		t.Errorf("a bug at the shared point: %+v", sum)
	}
}
