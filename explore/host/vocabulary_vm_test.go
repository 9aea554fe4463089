//go:build vmtest

package host

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/machine"
	"fsward/explore/model"
	"fsward/explore/modeltest"
)

// TestGuestVocabulary compares the model with file systems of the guest's kernel: each operation of
// random lists gives the same result, and leaves the same tree. With -short there are fewer lists.
func TestGuestVocabulary(t *testing.T) {
	lists := uint64(12)
	if testing.Short() {
		lists = 4
	}
	cfg := GuestConfig{Dir: os.Getenv("FSWARD_GUEST"), MemoryMiB: 384, LogMiB: 16}
	err := WithMachine(t.Context(), cfg, zap.NewNop(), func(m *machine.Machine) error {
		for _, name := range []string{"tmpfs", "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"} {
			t.Run(name, func(t *testing.T) { vocabulary(t, m, name, lists) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// vocabulary compares one file system.
func vocabulary(t *testing.T, m *machine.Machine, name string, lists uint64) {
	const dir, device = "/mnt/vocabulary", "/dev/fswrd0"
	do := func(ops ...agent.Op) ([]agent.Result, error) {
		done, err := m.Do(context.Background(), agent.Batch{Ops: ops, Timeout: time.Minute})
		return done.Results, err
	}
	must := func(op agent.Op) {
		t.Helper()
		if r, err := do(op); err != nil || r[0].Errno != 0 {
			t.Fatalf("%v: %v, %v", op, r, err)
		}
	}
	promises := model.Promises{Features: []model.Feature{model.Nodes, model.Tmpfile, model.Direct,
		model.Whiteout, model.ACL}}
	mount := agent.Mount("none", dir, "tmpfs", 0, "")
	if name != "tmpfs" {
		k, err := component.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if !k.In(m.Hello().Release) {
			t.Skipf("the guest's kernel has no %s", name)
		}
		if err := m.MakeDisk(t.Context(), 0, max(k.Bytes, 64<<20)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.RemoveDisk(context.Background(), 0) }()
		made, err := m.Run(t.Context(), agent.Command{Args: []string{"sh", "-c", k.Init},
			Env: []string{"DEVICE=" + device, "DEVICES=" + device}, Timeout: 2 * time.Minute})
		if err != nil || made.Code != 0 {
			t.Fatalf("%s: %v, %s%s", k.Init, err, made.Stdout, made.Stderr)
		}
		promises, mount = k.Promises, agent.Mount(device, dir, k.Type, 0, k.Options)
	}
	_, _ = do(agent.Mkdir("/mnt", 0o755), agent.Mkdir(dir, 0o755)) // they may exist
	must(mount)
	defer must(agent.Unmount(dir, 0))
	if r, err := do(agent.Setxattr(dir, "user.x", nil, 0)); err != nil {
		t.Fatal(err)
	} else if name == "tmpfs" && r[0].Errno == unix.EOPNOTSUPP { // before Linux 6.6
		promises.NoXattrs = true
		promises.Features = []model.Feature{model.Nodes, model.Tmpfile, model.Whiteout, model.ACL}
	}
	begin := time.Now()
	c := modeltest.Comparison{Do: do, Promises: promises, Seen: make(map[string]int)}
	for seed := range lists {
		if err := c.Compare(dir, seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lists, %d kinds of results, %v", lists, len(c.Seen), time.Since(begin))
	for _, result := range []string{"rename ok", "write ok", "mmapwrite ok", "mkdir ok"} {
		if c.Seen[result] == 0 {
			t.Errorf("no operation gave %s", result)
		}
	}
}
