package checkers

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// A thisMachine is the kernel of the machine that runs the test, as a System.
type thisMachine struct {
	*exploretest.System
	client *agent.Client
}

func (m thisMachine) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	return m.client.Do(ctx, b)
}

// onThisMachine returns an Env whose operations this machine's kernel performs.
func onThisMachine(t *testing.T) *explore.Env {
	t.Helper()
	c := modeltest.ThisMachine(t)
	return explore.NewEnv(t.Context(), thisMachine{exploretest.New(), c}, new(explore.Chooser))
}

// TestStepsAsLinux checks that random steps of all groups give the same results on real file
// systems as in the model, leave the same trees, and that everything can be removed afterwards.
func TestStepsAsLinux(t *testing.T) {
	few := []model.Feature{model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL,
		model.Times}
	all := slices.Concat(few, []model.Feature{model.ZeroRange, model.Full})
	features := map[string][]model.Feature{
		"ext2":  few,
		"ext3":  few,
		"ext4":  slices.Concat(all, []model.Feature{model.Shift}),
		"btrfs": slices.Concat(all, []model.Feature{model.Reflink}),
		"xfs":   slices.Concat(all, []model.Feature{model.Shift, model.Reflink}),
	}
	for fs, list := range features {
		t.Run(fs, func(t *testing.T) {
			e := onThisMachine(t)
			core := &Core{At: modeltest.Mounted(t, fs), Promises: model.Promises{Features: list,
				NoFallocate: fs == "ext2" || fs == "ext3"},
				Limits: Limits{Groups: LaterGroups(), Files: 3}, Watched: true}
			rounds := 8
			if testing.Short() {
				rounds = 1
			}
			for round := range uint64(rounds) {
				randomSteps(t, e, core, round)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// randomSteps performs random steps in an empty file system, and then removes everything.
func randomSteps(t *testing.T, e *explore.Env, core *Core, seed uint64) {
	t.Helper()
	if err := core.Init(e); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range 80 {
		list, _ := core.Steps()
		ops := list[random.IntN(len(list))]
		err := core.Step(e, ops)
		if err == nil && core.torn { // the disk was full
			break
		}
		if err == nil {
			err = core.Same(e)
		}
		if err != nil {
			t.Errorf("round %d, step %d, %s: %v", seed, i, describe(ops), err)
			return
		}
	}
	if _, open := core.fs.Held()[held]; open {
		if _, err := e.Do(agent.Close(held)); err != nil {
			t.Error(err)
		}
	}
	if err := core.Use(e); err != nil {
		t.Error(err)
	}
}
