package checkers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

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

// linuxCores returns a Core for each file system of this machine that the tests compare with, by
// name.
func linuxCores() map[string]Core {
	few := []model.Feature{model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL,
		model.Times}
	all := slices.Concat(few, []model.Feature{model.ZeroRange, model.Full})
	features := map[string][]model.Feature{
		"tmpfs": few,
		"ext2": slices.Concat(few, []model.Feature{model.Full, model.Inodes, model.FileFlags,
			model.FileExtents}),
		"ext3": slices.Concat(few, []model.Feature{model.Full, model.Inodes, model.FileFlags,
			model.FileExtents}),
		"ext4": slices.Concat(all, []model.Feature{model.Shift, model.Inodes, model.FileFlags,
			model.FileExtents}),
		"btrfs": slices.Concat(all, []model.Feature{model.Reflink, model.FileFlags, model.Subvolumes,
			model.FileExtents}),
		"xfs": slices.Concat(all, []model.Feature{model.Shift, model.Reflink, model.FileFlags,
			model.FileExtents}),
	}
	out := make(map[string]Core)
	for fs, list := range features {
		out[fs] = Core{Promises: model.Promises{Features: list,
			NoFallocate: fs == "ext2" || fs == "ext3"},
			Limits: Limits{Groups: append(LaterGroups(), together, many), Files: 3}, Watched: true}
	}
	return out
}

// TestStepsAsLinux checks that random steps of all groups but one that waits give the same results
// on real file systems as in the model, leave the same trees, and that everything can be removed
// afterwards. With -short there are fewer rounds.
func TestStepsAsLinux(t *testing.T) {
	for fs, core := range linuxCores() {
		t.Run(fs, func(t *testing.T) {
			e := onThisMachine(t)
			// The root of tmpfs has another mode.
			core.At = newRoot(t, e, &core, modeltest.MountedSmall(t, fs), 0)
			rounds := 8
			if testing.Short() {
				rounds = 2
				t.Logf("-short: %d rounds", rounds)
			}
			for round := range uint64(rounds) {
				randomSteps(t, e, &core, round)
				if err := core.Use(e); err != nil {
					t.Error(err)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestTogetherAsLinux does so with steps in which two processes act at the same time, and removes
// nothing.
func TestTogetherAsLinux(t *testing.T) {
	for fs, core := range linuxCores() {
		t.Run(fs, func(t *testing.T) {
			e, mounted := onThisMachine(t), modeltest.Mounted(t, fs)
			core.Limits.Groups = []Group{together}
			for round := range uint64(3) {
				core.At = newRoot(t, e, &core, mounted, round)
				randomSteps(t, e, &core, round)
			}
		})
	}
}

// newRoot makes a directory that a core can take for the root of a file system: on Btrfs, that of a
// subvolume. It returns its path.
func newRoot(t *testing.T, e *explore.Env, core *Core, in string, number uint64) string {
	t.Helper()
	d := filepath.Join(in, fmt.Sprint(number))
	makes := agent.Mkdir(d, 0o755)
	if core.Promises.Has(model.Subvolumes) {
		makes = agent.Subvolume(d)
	}
	if _, err := e.Do(makes); err != nil {
		t.Fatal(err)
	}
	return d
}

// setsReadOnly reports whether a step changes an access control list in a read-only subvolume.
// Btrfs of Linux 6.18 does so (btrfs_set_acl), and should not.
func setsReadOnly(core *Core, ops []model.Op) bool {
	fs := core.fs.Clone()
	return slices.ContainsFunc(ops, func(o model.Op) bool {
		return fs.Apply(o).Errno == unix.EROFS && strings.HasPrefix(o.Name, "system.posix_acl")
	})
}

// TestRepetitionsAsLinux does so with the repetitions.
func TestRepetitionsAsLinux(t *testing.T) {
	for fs, core := range linuxCores() {
		t.Run(fs, func(t *testing.T) {
			e, mounted := onThisMachine(t), modeltest.Mounted(t, fs)
			c := &Sync{Core: core}
			if err := c.Init(e); err != nil {
				t.Fatal(err)
			}
			for i, r := range c.repetitions() {
				c.At = newRoot(t, e, &c.Core, mounted, uint64(i))
				for k, ops := range append([][]model.Op{tourBegin(c.Limits)}, r.batches()...) {
					if err := c.Step(e, ops); err != nil {
						t.Fatalf("repetition %d, batch %d, which ends with %v: %v", i, k, ops[len(ops)-1], err)
					}
				}
				if err := c.Init(e); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// randomSteps performs random steps in an empty file system.
func randomSteps(t *testing.T, e *explore.Env, core *Core, seed uint64) {
	t.Helper()
	if err := core.Init(e); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range 80 {
		list, _ := core.Steps()
		ops := list[random.IntN(len(list))]
		if setsReadOnly(core, ops) {
			continue
		}
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
}
