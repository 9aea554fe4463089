package guard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp"
	"fsward/interp/btrfs"
)

// scripted is an interpreter that returns what a test has set, and remembers its calls.
type scripted struct {
	next    interp.Observation
	settled []bool
}

func (s *scripted) FS() string                              { return "btrfs" }
func (s *scripted) Schema() *change.Schema                  { return nil }
func (s *scripted) Observe(interp.Write) interp.Observation { return s.next }
func (s *scripted) Flushed(int, uint64)                     {}

func (s *scripted) Settle(written bool) { s.settled = append(s.settled, written) }

func violated() interp.Observation {
	return interp.Observation{Point: interp.CommitPoint, Generation: 7,
		Violations: []change.Violation{{Rule: "btrfs/key-order", Kind: change.ByStructure,
			Doc: "Keys in a node ascend."}}}
}

// decision is the decision of a guard about one write.
type decision struct {
	name        string
	obs         interp.Observation
	policy      guard.Policy
	diskErr     error
	wantErr     error
	wantDone    bool
	wantSettled bool
	wantEvents  int
	wantAction  string
}

func decisions() []decision {
	unknown := interp.Observation{Point: interp.CommitPoint,
		Unknown: errors.New("cannot read the block at 4096")}
	diskFails := errors.New("no space on the host")
	return []decision{
		{"an ordinary write passes in silence", interp.Observation{}, guard.RefusePolicy{}, nil, nil,
			true, true, 0, ""},
		{"a sound commit passes", interp.Observation{Point: interp.CommitPoint}, guard.RefusePolicy{},
			nil, nil, true, true, 1, guard.Passed},
		{"a violation is refused", violated(), guard.RefusePolicy{}, nil, blocktap.ErrRefused, false,
			false, 1, guard.Refused},
		{"what is not known is refused", unknown, guard.RefusePolicy{}, nil, blocktap.ErrRefused, false,
			false, 1, guard.Refused},
		{"log lets a violation pass", violated(), guard.LogPolicy{}, nil, nil, true, true, 1,
			guard.Passed},
		{"log lets the unknown pass", unknown, guard.LogPolicy{}, nil, nil, true, true, 1, guard.Passed},
		{"a failing disk is not a commit", interp.Observation{Point: interp.CommitPoint},
			guard.RefusePolicy{}, diskFails, diskFails, true, false, 1, guard.Failed},
		{"an ordinary write on a failing disk", interp.Observation{}, guard.RefusePolicy{}, diskFails,
			diskFails, true, false, 0, ""},
	}
}

func TestGuardDecides(t *testing.T) {
	rules, err := (guard.RulesConfig{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range decisions() {
		t.Run(tc.name, func(t *testing.T) {
			s := &scripted{next: tc.obs}
			var seen guardtest.Events
			g := guard.NewGuard(s, rules, tc.policy, &seen)
			done := false
			err := g.Handle(context.Background(), &blocktap.Request{Op: blocktap.OpWrite, Len: 4,
				Data: []byte("data")},
				func() error { done = true; return tc.diskErr })
			if !errors.Is(err, tc.wantErr) || (tc.wantErr == nil) != (err == nil) {
				t.Errorf("error %v, want %v", err, tc.wantErr)
			}
			if done != tc.wantDone {
				t.Errorf("the write was done: %v, want %v", done, tc.wantDone)
			}
			if len(s.settled) != 1 || s.settled[0] != tc.wantSettled {
				t.Errorf("settled %v, want once with %v", s.settled, tc.wantSettled)
			}
			if len(seen) != tc.wantEvents {
				t.Fatalf("%d events, want %d", len(seen), tc.wantEvents)
			}
			if tc.wantEvents > 0 && seen[0].Action != tc.wantAction {
				t.Errorf("action %q, want %q", seen[0].Action, tc.wantAction)
			}
		})
	}
}

// TestGuardJudgesForACutConnection checks that a commit whose connection is cut during the check
// still gets its verdict, and that the report has it: the contents of the disk do not depend on how
// long its user lived.
func TestGuardJudgesForACutConnection(t *testing.T) {
	dir := t.TempDir()
	const slow = `% Rule 1. Takes its time.
violation(1, 5, k(1, inode_item, 0)) :-
	add(5, k(1, inode_item, 0)), between(1, 100000, N), N < 0.
`
	for fs, text := range map[string]string{"ext3": "", "btrfs": slow} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, fs), 0o700),
			os.WriteFile(filepath.Join(dir, fs, "slow.pl"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	rules, err := guard.RulesConfig{Dir: dir}.Load()
	if err != nil {
		t.Fatal(err)
	}
	txn := &change.Txn{Schema: btrfs.Schema(), Names: change.NewNames()}
	kind, _ := txn.Schema.KindByName("inode_item")
	txn.Add(change.Object{Kind: kind, Tree: 5, ID: 1})
	ctx, cut := context.WithCancel(t.Context())
	cut()
	s := &scripted{next: interp.Observation{Point: interp.CommitPoint, Txn: txn}}
	var seen guardtest.Events
	g := guard.NewGuard(s, rules, guard.RefusePolicy{}, &seen)
	if err := g.Handle(ctx, &blocktap.Request{Op: blocktap.OpWrite, Len: 4, Data: []byte("data")},
		func() error { return nil }); err != nil {
		t.Error(err)
	}
	if len(seen) != 1 || seen[0].Outcome != change.Holds {
		t.Errorf("%d events, the first is %s", len(seen), guardtest.TextOf(seen[0]))
	}
}

func TestHolderHoldsUntilReleased(t *testing.T) {
	for _, pass := range []bool{true, false} {
		guest := &guardtest.Domain{}
		h := guard.NewHolder(guest, zap.NewNop())
		if err := h.Release(true); !errors.Is(err, guard.ErrNotHeld) {
			t.Fatalf("release of nothing: %v", err)
		}
		done := make(chan error)
		go func() { done <- h.Decide(context.Background(), &guard.Event{Outcome: change.Violated}) }()
		guardtest.WaitHeld(t, h)
		select {
		case err := <-done:
			t.Fatalf("decided before the release: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		if err := h.Release(pass); err != nil {
			t.Fatal(err)
		}
		if err := <-done; (err == nil) != pass {
			t.Errorf("release(%v) gave %v", pass, err)
		}
		if guest.Suspended != 1 || guest.Resumed != 1 {
			t.Errorf("suspended %d times, resumed %d", guest.Suspended, guest.Resumed)
		}
	}
}

func TestHolderRefusesWhenTheDaemonStops(t *testing.T) {
	h := guard.NewHolder(nil, zap.NewNop())
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- h.Decide(ctx, &guard.Event{Outcome: change.Undecided}) }()
	guardtest.WaitHeld(t, h)
	stop()
	if err := <-done; !errors.Is(err, blocktap.ErrRefused) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestReports(t *testing.T) {
	ev := &guard.Event{Disk: "vda", FS: "btrfs", Kind: guard.KindCommit, Generation: 7, Records: 412,
		Outcome: change.Violated, Action: guard.Refused,
		CheckNS: 3_100_000, Violations: []change.Violation{{Rule: "btrfs/14", Kind: change.ByRule,
			Tree: "5", ID: "k(257,inode_item,0)",
			Doc:     "The nlink of an inode equals the number of its references.",
			Source:  "invariants/btrfs/inode.pl:12",
			Witness: []string{"change(5,k(257,inode_item,0),nlink,1,2)"}}}}
	var text, lines strings.Builder
	guard.NewTextReport(&text).Event(ev)
	guard.NewJSONReport(&lines, "").Event(ev)
	for _, want := range []string{"412", "3.1 ms", "violated, refused (btrfs/14)",
		"The nlink of an inode", "tree 5, k(257,inode_item,0)",
		"invariants/btrfs/inode.pl:12", "change(5,k(257,inode_item,0),nlink,1,2)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, &text)
		}
	}
	want := `{"event":"commit","disk":"vda","fs":"btrfs","generation":7,"records":412,` +
		`"verdict":"violated","action":"refused","interp_ns":0,"check_ns":3100000,` +
		`"violations":[{"rule":"btrfs/14","kind":"rule","severity":"refuse","tree":5,` +
		`"id":"k(257,inode_item,0)",` +
		`"doc":"The nlink of an inode equals the number of its references.",` +
		`"source":"invariants/btrfs/inode.pl:12",` +
		`"witness":["change(5,k(257,inode_item,0),nlink,1,2)"]}],"schema":1,`
	if !strings.HasPrefix(lines.String(), want) {
		t.Errorf("got  %swant %s", &lines, want)
	}
}
