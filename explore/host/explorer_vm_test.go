//go:build vmtest

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
)

// explorerRig boots one guest for all tests of the explorer's guest, since a boot under TCG takes
// long.
type explorerRig struct {
	*guest.Guest
	ctx context.Context
	dir string
	con *consoleClock

	daemon   *guard.Disks // of the guarded disks
	verdicts *guardtest.Recorder
}

// consoleClock is a hypervisor that records the times of console lines.
type consoleClock struct {
	Hypervisor
	mu sync.Mutex
	at map[string]time.Time // by a word of the line
}

// Boot boots a machine and records the first lines with the words that the tests ask for.
func (c *consoleClock) Boot(ctx context.Context, m guest.Machine) (guest.Domain, error) {
	onLine := m.OnLine
	m.OnLine = func(s string) {
		c.mu.Lock()
		for _, word := range []string{"spinning", "Kernel panic"} {
			if _, known := c.at[word]; !known && strings.Contains(s, word) {
				c.at[word] = time.Now()
			}
		}
		c.mu.Unlock()
		onLine(s)
	}
	return c.Hypervisor.Boot(ctx, m)
}

// since returns the time since the first line with a word.
func (c *consoleClock) since(t *testing.T, word string) time.Duration {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.at[word]
	if !ok {
		t.Fatalf("the console has no line with %q", word)
	}
	return time.Since(at)
}

// wait waits for a line with a word.
func (c *consoleClock) wait(t *testing.T, word string) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		_, ok := c.at[word]
		c.mu.Unlock()
		if ok {
			return
		}
	}
	t.Fatalf("the console has no line with %q after a minute", word)
}

// newBaseDisk returns a disk of a guest on an empty image of 64 MiB in dir.
func newBaseDisk(t *testing.T, dir string) *guest.Disk {
	t.Helper()
	image := filepath.Join(dir, "base")
	guardtest.Run(t, "truncate", "-s", "64M", image)
	base, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	disk, err := guest.NewDisk(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// newExplorerRig boots the guest in the folder that $FSWARD_GUEST names.
func newExplorerRig(t *testing.T, memoryMiB uint) *explorerRig {
	t.Helper()
	dir, err := os.MkdirTemp("", "fsward-agent-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	log := zaptest.NewLogger(t, zaptest.WrapOptions(zap.AddStacktrace(zap.PanicLevel)))
	files, err := guest.Build(ctx, guardtest.Project(t), guardtest.GuestDir(t))
	if err != nil {
		t.Fatal(err)
	}
	if cloud, err := filepath.Glob(filepath.Join(filepath.Dir(files.Kernel),
		"kernel/boot/vmlinuz-*cloud*")); err != nil || len(cloud) == 0 {
		memoryMiB = max(memoryMiB, 192) // the generic kernel and its initramfs need more than 128 MiB
	}
	host, err := vm.Connect(ctx, filepath.Join(dir, "run"), log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &explorerRig{ctx: ctx, dir: dir}
	disks := append([]*guest.Disk{newBaseDisk(t, dir)}, r.guardDisks(t, log)...)
	con := &consoleClock{Hypervisor: Hypervisor{host}, at: make(map[string]time.Time)}
	begin := time.Now()
	g, err := guest.Start(ctx, con, guest.Config{Name: "fsward-agent", Files: files, Dir: dir,
		Disks: disks, Guard: r.daemon,
		MemoryMiB: memoryMiB, Silence: 20 * time.Second}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("ready after %.1f s: kernel %s, uptime %.1f s when the agent answered",
		time.Since(begin).Seconds(), g.Hello().Release, g.Hello().Uptime.Seconds())
	r.Guest, r.con = g, con
	return r
}

// sh runs a script in the guest that must succeed.
func (r *explorerRig) sh(t *testing.T, script string) string {
	t.Helper()
	e, err := r.Run(r.ctx, agent.Command{Args: []string{"sh", "-e", "-c", script},
		Timeout: time.Minute})
	if err != nil || e.Code != 0 || e.TimedOut {
		t.Fatalf("%s: %v; %+v", script, err, e)
	}
	return string(e.Stdout)
}

// ops runs operations and returns all their results.
func (r *explorerRig) ops(t *testing.T, ops ...agent.Op) agent.Done {
	t.Helper()
	d, err := r.Do(r.ctx, agent.Batch{Ops: ops, Timeout: time.Minute})
	if err != nil || d.TimedOut || len(d.Results) != len(ops) {
		t.Fatalf("%d operations, %d results, timed out: %t: %v", len(ops), len(d.Results), d.TimedOut,
			err)
	}
	return d
}

// ok runs operations that must succeed.
func (r *explorerRig) ok(t *testing.T, ops ...agent.Op) agent.Done {
	t.Helper()
	d := r.ops(t, ops...)
	for i := range d.Results {
		if err := d.Results[i].Err(); err != nil {
			t.Fatalf("operation %d, %+v: %v; the kernel: %s", i, ops[i], err, d.Kernel)
		}
	}
	return d
}

// TestGuestAgent checks the agent, the checkpoints and the failures of one guest.
func TestGuestAgent(t *testing.T) {
	r := newExplorerRig(t, 160)
	t.Run("commands", r.commands)
	t.Run("prefix", r.prefix)
	t.Run("operations", r.operations)
	t.Run("checkpoint", r.checkpoint)
	t.Run("guarded", r.guarded)
	t.Run("log", func(t *testing.T) {
		for _, fs := range []string{"ext3", "btrfs"} {
			r.bioLog(t, fs)
		}
	})
	t.Run("snapshot", r.snapshot)
	t.Run("hang", r.hang)
	t.Run("panic", r.panics)
	t.Run("gone", r.gone)
}

// commands checks the exit status, the output and the time-out of commands.
func (r *explorerRig) commands(t *testing.T) {
	e, err := r.Run(r.ctx, agent.Command{Args: []string{"sh", "-c",
		"echo out; echo err >&2; echo '<4>hello kernel' >/dev/kmsg; exit 7"}, Timeout: time.Minute})
	if err != nil || e.Code != 7 || string(e.Stdout) != "out\n" || string(e.Stderr) != "err\n" ||
		e.Kernel != "hello kernel\n" {
		t.Errorf("%+v, %v", e, err)
	}
	begin := time.Now()
	if e, err = r.Run(r.ctx, agent.Command{Args: []string{"sleep", "1000"},
		Timeout: 300 * time.Millisecond}); err != nil || !e.TimedOut || e.Signal != unix.SIGKILL {
		t.Errorf("%+v, %v", e, err)
	}
	t.Logf("a command with a time-out of 0.3 s ended after %.2f s", time.Since(begin).Seconds())
}

// prefix checks that a command is killed at a system call, after the effects of the calls before it
// and without those of the calls after it.
func (r *explorerRig) prefix(t *testing.T) {
	const line = "echo new > /tmp/prefix/f.new; mv /tmp/prefix/f.new /tmp/prefix/f"
	for n, want := range []string{"", "f.new", "f.new", "f"} {
		r.sh(t, "rm -rf /tmp/prefix; mkdir /tmp/prefix")
		e, err := r.Run(r.ctx, agent.Command{Args: []string{"sh", "-c", line}, Timeout: time.Minute,
			Prefix: &agent.Prefix{At: "/tmp/prefix", Calls: uint64(n)}})
		if calls := len(strings.Fields(e.Calls)); err != nil || e.TimedOut || calls != n ||
			e.Cut != (n < 3) {
			t.Errorf("%d calls: %+v, %v", n, e, err)
		}
		if got := strings.TrimSpace(r.sh(t, "ls /tmp/prefix")); got != want {
			t.Errorf("after %d calls the files are %q, want %q", n, got, want)
		}
	}
}

// operations checks that operations return the error numbers of the guest's file systems, and that
// one request can hold a thousand operations.
func (r *explorerRig) operations(t *testing.T) {
	r.sh(t, "mkdir -p /mnt/e")
	r.ok(t, agent.DiskMake(0, 32<<20))
	r.sh(t, "mkfs.ext3 -q -N 2000 /dev/fswrd0")
	d := r.ops(t,
		agent.Mount("/dev/fswrd0", "/mnt/e", "ext3", unix.MS_NOATIME, "errors=continue"),
		agent.Mount("/dev/fswrd0", "/mnt/e", "ext3", 0, "no_such_option"), // EINVAL
		agent.Mkdir("/mnt/e/d", 0o755),
		agent.Mkdir("/mnt/e/d", 0o755), // EEXIST
		agent.Open(0, "/mnt/e/d/f", unix.O_CREAT|unix.O_RDWR, 0o644),
		agent.Fill(0, 0, 100_000, 1),
		agent.Unmount("/mnt/e", 0),      // EBUSY: the file is open
		agent.Rmdir("/mnt/e/d"),         // ENOTEMPTY
		agent.Fallocate(0, 0, 0, 1<<20), // EOPNOTSUPP: ext3 has no extents
		agent.Fill(0, 1<<41, 10, 1),     // EFBIG
		agent.Setxattr("/mnt/e/d/f", "user.a", []byte("value"), 0),
		agent.Getxattr("/mnt/e/d/f", "user.a"),
		agent.Getxattr("/mnt/e/d/f", "user.b"),                 // ENODATA
		agent.Rename("/mnt/e/d", "/mnt/e/d/x", 0),              // EINVAL
		agent.Link("/mnt/e/d/f", "/dev/x"),                     // EXDEV
		agent.Mkdir("/mnt/e/"+strings.Repeat("n", 256), 0o755), // ENAMETOOLONG
		agent.Fsync(0),
		agent.Close(0),
		agent.Tree("/mnt/e"),
		agent.Unmount("/mnt/e", 0),
	)
	var got []unix.Errno
	for _, res := range d.Results {
		got = append(got, res.Errno)
	}
	want := []unix.Errno{0, unix.EINVAL, 0, unix.EEXIST, 0, 0, unix.EBUSY, unix.ENOTEMPTY,
		unix.EOPNOTSUPP, unix.EFBIG, 0, 0, unix.ENODATA, unix.EINVAL, unix.EXDEV, unix.ENAMETOOLONG, 0,
		0, 0, 0}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("error numbers (-want +got):\n%s\n%s", diff, d.Kernel)
	}
	if string(d.Results[11].Data) != "value" {
		t.Errorf("the attribute is %q", d.Results[11].Data)
	}
	tree, err := agent.DecodeTree(d.Results[18].Data)
	if err != nil || len(tree) != 4 || tree[2].Path != "d/f" || tree[2].Size != 100_000 {
		t.Errorf("the tree is %+v, %v", tree, err)
	}

	many := []agent.Op{agent.Mount("/dev/fswrd0", "/mnt/e", "ext3", 0, "")}
	for i := range 1000 {
		many = append(many, agent.Open(0, fmt.Sprintf("/mnt/e/%d", i), unix.O_CREAT|unix.O_WRONLY, 0o644))
	}
	begin := time.Now()
	d = r.ok(t, append(many, agent.Close(0), agent.Unmount("/mnt/e", 0))...)
	t.Logf("1,000 files made, with a mount and an unmount, in one request: %.2f s in the guest, "+
		"%.2f s on the host", d.Took.Seconds(), time.Since(begin).Seconds())
	r.ok(t, agent.DiskRemove(0))
}
