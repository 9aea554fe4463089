package guard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp"
	"fsward/interp/detect"
)

// TestReloadUnderLoad replaces rules while commits come: each commit is checked once, by all rules
// of one set. A set that does not load leaves the old one in force.
func TestReloadUnderLoad(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "btrfs"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "btrfs", "mine.pl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(twoRules(0))
	rules, err := guard.RulesConfig{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	interpreter := &scripted{next: interp.Observation{Point: interp.CommitPoint, Generation: 7,
		Txn: inodeAdded()}}
	var seen guardtest.Events
	g := guard.NewGuard(interpreter, rules, guard.LogPolicy{}, &seen)
	defer g.Drop()
	disks := guard.NewDisks(rules)

	const reloads = 200
	stop, done := make(chan struct{}), make(chan int)
	go func() { done <- commitUntil(t, stop, g) }()
	for n := 1; n <= reloads; n++ {
		write(twoRules(n % 2))
		if rules, err := disks.Reload(); err != nil || rules.Rules != 2 {
			t.Fatalf("%d rules, %v", rules.Rules, err)
		}
		if n%10 == 0 {
			write("violation(a9, T, I) :- ad(T, I).\n")
			_, err := disks.Reload()
			if err == nil || !strings.Contains(err.Error(), "stay") ||
				!strings.Contains(err.Error(), "mine.pl:1:24: in violation(a9, T, I): unknown predicate ad/2") {
				t.Errorf("a set that does not load: %v", err)
			}
		}
	}
	close(stop)
	commits := <-done
	if len(seen) != commits || len(interpreter.settled) != commits {
		t.Errorf("%d commits, %d events, %d settled", commits, len(seen), len(interpreter.settled))
	}
	by := map[string]int{}
	for _, ev := range seen {
		var found []string
		for _, v := range ev.Violations {
			found = append(found, v.Rule)
		}
		by[strings.Join(found, " ")]++
	}
	if len(by) != 2 || by["btrfs/a0 btrfs/b0"] == 0 || by["btrfs/a1 btrfs/b1"] == 0 {
		t.Errorf("commits by the rules that judged them: %v", by)
	}
	t.Logf("%d commits, %d reloads: %v", commits, reloads, by)
}

// twoRules returns a set of two rules that find the same object. A commit that is checked by parts
// of two sets violates rules of both.
func twoRules(n int) string {
	const text = "violation(a%d, T, I) :- add(T, I).\nviolation(b%d, T, I) :- add(T, I).\n"
	return fmt.Sprintf(text, n, n)
}

// inodeAdded returns a transaction that adds one inode.
func inodeAdded() *change.Txn {
	schema := detect.Schema("btrfs")
	kind, _ := schema.KindByName("inode_item")
	txn := &change.Txn{Schema: schema, Names: change.NewNames()}
	txn.Add(change.Object{Tree: 5, ID: 257, Kind: kind})
	return txn
}

// commitUntil sends commits to a guard until stop is closed, and returns their number.
func commitUntil(t *testing.T, stop <-chan struct{}, g *guard.Guard) (commits int) {
	for {
		select {
		case <-stop:
			return commits
		default:
		}
		commits++
		r := &blocktap.Request{Op: blocktap.OpWrite, Len: 4, Data: []byte("data")}
		if err := g.Handle(context.Background(), r, func() error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// foretold is an interpreter that expected the commit that comes, and the View of that commit, of
// which only Exists is used.
type foretold struct {
	scripted
	change.View
	stopped atomic.Bool
}

func (f *foretold) Forecast() interp.Forecast { return f }
func (f *foretold) Stop()                     { f.stopped.Store(true) }
func (f *foretold) Needed() context.Context   { return context.Background() }
func (f *foretold) Judged()                   {}

func (f *foretold) Prepare() (interp.Part, bool) {
	return interp.Part{Txn: f.next.Txn, View: f}, true
}

func (f *foretold) Exists(change.Object) (bool, error) {
	if f.stopped.Load() {
		return false, errors.New("stopped")
	}
	return true, nil
}

// TestReloadBehindAFlush replaces rules between the flush, when the speculative check begins, and
// the commit: the new rules check the commit, on the expected state.
func TestReloadBehindAFlush(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "btrfs", "mine.pl")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(number int) {
		t.Helper()
		if err := os.WriteFile(file, fmt.Appendf(nil, "violation(%d, T, I) :- add(T, I), query(T, I).\n",
			number), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(901)
	rules, err := guard.RulesConfig{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	interpreter := &foretold{}
	interpreter.next = interp.Observation{Point: interp.CommitPoint, Generation: 7,
		Txn: inodeAdded(), View: interpreter}
	var seen guardtest.Events
	g := guard.NewGuard(interpreter, rules, guard.LogPolicy{}, &seen)
	defer g.Drop()
	g.Flushing()
	write(902)
	_, swap, err := rules.Reload()
	if err != nil {
		t.Fatal(err)
	}
	swap()
	if err := g.Handle(context.Background(), &blocktap.Request{Op: blocktap.OpWrite, Len: 4,
		Data: []byte("data")}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Outcome != change.Violated || len(seen[0].Undecided) > 0 ||
		seen[0].Violations[0].Rule != "btrfs/902" {
		t.Errorf("%+v", seen[0])
	}
}
