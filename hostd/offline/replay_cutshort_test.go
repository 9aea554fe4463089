package offline_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// A changingBudget gives about every second judgment all steps that it needs, and the others few.
// It checks what follows from that: only a judgment with few steps is undecided, and none is
// violated.
type changingBudget struct {
	t      *testing.T
	random *rand.Rand
	work   *change.WorkBudget
	few    bool // the present judgment has few steps
	cut    int  // judgments that were cut short
	whole  int  // judgments with all steps after one that was cut short
	after  bool // the judgment before was cut short
}

func newChangingBudget(t *testing.T, seed uint64) *changingBudget {
	return &changingBudget{t: t, random: rand.New(rand.NewPCG(seed, 1)),
		work: change.NewWorkBudget(guard.DefaultWork)}
}

// Event checks a verdict, and chooses the limits of the next judgment.
func (b *changingBudget) Event(ev *guard.Event) {
	switch {
	case ev.Outcome == change.Violated || ev.Outcome == change.Undecided && !b.few:
		b.t.Errorf("false alarm, few steps: %t: %s", b.few, guardtest.TextOf(ev))
	case ev.Outcome == change.Undecided:
		b.cut++
	case b.after && !b.few:
		b.whole++
	}
	b.after = ev.Outcome == change.Undecided
	limits := guard.DefaultWork
	if b.few = b.random.IntN(2) == 0; b.few {
		limits = change.WorkLimits{Base: int64(math.Exp(4 + 11*b.random.Float64()))}
	}
	b.work.SetLimits(limits)
}

// TestReplayCutShort checks that a judgment of a real commit that ends for want of steps, wherever
// it ends, finds no violation, and that the judgment of the next commit, which is compared with it,
// finds none and is decided.
func TestReplayCutShort(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"btrfs-single-4k", "ext3-default"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut, whole := 0, 0
			for seed := range uint64(2) {
				b := newChangingBudget(t, seed)
				cfg := offline.ReplayConfig{
					Disks: []offline.ReplayDisk{{Base: capturedBase(t, name),
						Log: shareddata.Path(t, "logs/"+name+".log.zst")}},
					FS: detect.Auto, Work: b.work, Accept: true, Sinks: []guard.Sink{b}}
				if seed%2 == 1 {
					cfg.Memory = memory.Limits{PerDisk: 1 << 20, NoReserve: true}
				}
				if _, err := offline.Replay(context.Background(), cfg, zaptest.NewLogger(t)); err != nil {
					t.Fatal(err)
				}
				cut, whole = cut+b.cut, whole+b.whole
			}
			t.Logf("%d judgments were cut short, %d were whole after one", cut, whole)
			if cut < 6 || whole < 2 {
				t.Errorf("only %d judgments were cut short, and only %d were whole after one", cut, whole)
			}
		})
	}
}
