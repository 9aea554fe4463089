package component

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/modeltest"
)

// newHost returns an environment whose commands and operations run on the machine of the test.
func newHost(t *testing.T) *explore.Env {
	t.Helper()
	client := modeltest.ThisMachine(t)
	s := exploretest.New()
	s.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		return client.Run(t.Context(), c)
	}
	s.Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
		done, err := client.Do(t.Context(), agent.Batch{Ops: []agent.Op{op},
			Timeout: explore.DefaultCommandLimit})
		if err != nil || len(done.Results) != 1 {
			t.Fatalf("%v: %v", op.Code, err)
		}
		return done.Results[0]
	}
	return explore.NewEnv(t.Context(), s, new(explore.Chooser))
}

// newLoop attaches a loop device to an empty image file of a size in bytes.
func newLoop(t *testing.T, size uint64) *explore.Node {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, int64(size)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "--find", "--show", image).CombinedOutput()
	if err != nil {
		t.Fatalf("losetup: %v: %s", err, out)
	}
	loop := &explore.Node{At: strings.TrimSpace(string(out))}
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", loop.At).CombinedOutput(); err != nil {
			t.Errorf("losetup: %v: %s", err, out)
		}
	})
	return loop
}

// TestOnTheHost: shipped kinds create, mount, recover and verify a file system on the kernel of the
// machine that runs the test.
func TestOnTheHost(t *testing.T) {
	e := newHost(t)
	for _, name := range []string{"ext2", "ext3", "ext4", "btrfs"} {
		t.Run(name, func(t *testing.T) {
			k, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			c, err := k.New(filepath.Join(t.TempDir(), "mnt"), Options{Mount: "sync,noatime"},
				newLoop(t, k.Bytes))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []func(*explore.Env) error{c.Init, c.Mount} {
				if err := f(e); err != nil {
					t.Fatal(err)
				}
			}
			checkMounted(t, c)
			if threads, err := c.Threads(e); err != nil {
				t.Errorf("threads %v: %v", threads, err)
			}
			for _, f := range []func(*explore.Env) error{
				c.Unmount, c.Recover, c.Verify, c.Mount, c.Unmount,
			} {
				if err := f(e); err != nil {
					t.Fatal(err)
				}
			}
			if journaled := name == "ext3" || name == "ext4"; c.Repairs() != journaled {
				t.Errorf("Repairs is %t", c.Repairs())
			} else if journaled {
				if err := c.Repair(e); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkMounted checks the type of the mounted file system, and that it is mounted with
// sync,noatime.
func checkMounted(t *testing.T, c *Component) {
	t.Helper()
	var st unix.Statfs_t
	err := unix.Statfs(c.At, &st)
	btrfs := map[string]int64{"btrfs": unix.BTRFS_SUPER_MAGIC}[c.Kind.Name]
	if err != nil || st.Type != btrfs && st.Type != unix.EXT4_SUPER_MAGIC {
		t.Errorf("a file system of type %#x is mounted, %v", st.Type, err)
	}
	if want := int64(unix.ST_SYNCHRONOUS | unix.ST_NOATIME); st.Flags&want != want {
		t.Errorf("mounted with flags %#x", st.Flags)
	}
}

// TestSlowCommand: the agent kills a command that exceeds its limit, with the processes that it has
// started, and the Env says that it was slow.
func TestSlowCommand(t *testing.T) {
	e := newHost(t)
	began := time.Now()
	_, err := e.RunCommand(agent.Command{Args: []string{"sh", "-c", "sleep 1000 & sleep 1000"},
		Timeout: 300 * time.Millisecond})
	var slow *explore.SlowError
	if !errors.As(err, &slow) || slow.Limit != 300*time.Millisecond {
		t.Errorf("a command that sleeps for %v: %v", time.Since(began), err)
	}
	if _, err := e.Run("true"); !errors.As(err, &slow) {
		t.Errorf("a command after it: %v", err)
	}
}
