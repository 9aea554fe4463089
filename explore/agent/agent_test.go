package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fsward/explore/ubd"
)

// connected returns a client that is connected to a server in this process.
func connected(t *testing.T) *Client {
	t.Helper()
	host, guest := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- NewServer(guest).Serve() }()
	c := NewClient(host)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return c
}

// perform performs operations and returns all their results.
func perform(t *testing.T, c *Client, ops ...Op) []Result {
	t.Helper()
	d, err := c.Do(t.Context(), Batch{Ops: ops, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if d.TimedOut || len(d.Results) != len(ops) {
		t.Fatalf("%d results for %d operations, timed out: %t", len(d.Results), len(ops), d.TimedOut)
	}
	return d.Results
}

// errnos returns the error numbers of results.
func errnos(list []Result) (out []unix.Errno) {
	for _, r := range list {
		out = append(out, r.Errno)
	}
	return out
}

// fileOps returns operations in an empty directory. The comments name the errors that they give.
func fileOps(dir string, mtime time.Time) []Op {
	at := func(name string) string { return filepath.Join(dir, name) }
	return []Op{
		Mkdir(at("d"), 0o750),
		Mkdir(at("d"), 0o750), // EEXIST
		Open(0, at("d/f"), unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0o640),
		Open(1, at("none"), unix.O_RDWR, 0), // ENOENT
		Write(0, 3, []byte("text")),
		Fill(0, 100, 50, 9),
		Read(0, 0, 16),
		Fsync(0), Fdatasync(0),
		Ftruncate(0, 120),
		Fallocate(0, unix.FALLOC_FL_KEEP_SIZE, 0, 4096),
		Close(0),
		Write(0, 0, []byte("x")), // EBADF
		Link(at("d/f"), at("d/g")),
		Symlink("d/f", at("s")),
		Readlink(at("s")),
		Rename(at("d/g"), at("d/h"), 0),
		Rename(at("d/f"), at("d/h"), unix.RENAME_NOREPLACE), // EEXIST
		Rmdir(at("d")),  // ENOTEMPTY
		Unlink(at("d")), // EISDIR
		Mknod(at("p"), unix.S_IFIFO|0o600, 0),
		Chmod(at("d"), 0o700),
		Utimes(at("d/f"), mtime, mtime),
		Truncate(at("d/f"), 10),
		Readdir(dir),
		Stat(at("d/f")),
		Readlink(at("d/f")), // EINVAL
		Unmount(at("d"), 0), // EINVAL: not mounted
		Unlink(at("p")),
	}
}

// TestOperations checks that each operation has the effect and the errors of its system call.
func TestOperations(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	mtime := time.Unix(1_000_000_000, 7)
	results := perform(t, c, fileOps(dir, mtime)...)
	want := make([]unix.Errno, len(results))
	for i, errno := range map[int]unix.Errno{
		1: unix.EEXIST, 3: unix.ENOENT, 12: unix.EBADF, 17: unix.EEXIST, 18: unix.ENOTEMPTY,
		19: unix.EISDIR, 26: unix.EINVAL, 27: unix.EINVAL,
	} {
		want[i] = errno
	}
	if os.Geteuid() != 0 {
		want[27] = unix.EPERM
	}
	if d := cmp.Diff(want, errnos(results)); d != "" {
		t.Fatalf("error numbers (-want +got):\n%s", d)
	}
	if results[4].Value != 4 || results[5].Value != 50 {
		t.Errorf("%d and %d bytes were written, want 4 and 50", results[4].Value, results[5].Value)
	}
	wantData := append([]byte("\x00\x00\x00text"), make([]byte, 9)...)
	if got := results[6].Data; !bytes.Equal(got, wantData) {
		t.Errorf("read %q, want %q", got, wantData)
	}
	if got := string(results[15].Data); got != "d/f" {
		t.Errorf("the target of the link is %q", got)
	}
	if got := string(results[24].Data); got != "d\x00p\x00s\x00" || results[24].Value != 3 {
		t.Errorf("the names in the directory are %q", got)
	}
	stat, err := DecodeTree(results[25].Data)
	if err != nil {
		t.Fatal(err)
	}
	if e := stat[0]; e.Mode != unix.S_IFREG|0o640 || e.Links != 2 || e.Size != 10 {
		t.Errorf("the file is %+v", e)
	}
	checkTree(t, c, dir, mtime)
}

// checkTree checks the Tree of the directory that fileOps leaves behind.
func checkTree(t *testing.T, c *Client, dir string, mtime time.Time) {
	t.Helper()
	file := filepath.Join(dir, "d/f")
	tree := perform(t, c, Truncate(file, 3), Utimes(file, mtime, mtime), Tree(dir))
	entries, err := DecodeTree(tree[2].Data)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte{0, 0, 0})
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path)
		if e.Errno != 0 {
			t.Errorf("%s: %v", e.Path, e.Errno)
		}
		if strings.HasPrefix(e.Path, "d/") && (e.Sum != sum || e.Mtime != mtime.UnixNano()) {
			t.Errorf("wrong contents or time: %+v", e)
		}
		if e.Path == "s" && e.Target != "d/f" {
			t.Errorf("wrong target: %+v", e)
		}
	}
	if d := cmp.Diff([]string{".", "d", "d/f", "d/h", "s"}, paths); d != "" {
		t.Errorf("the tree (-want +got):\n%s", d)
	}
}

// TestNoModule checks that without the modules only their operations fail.
func TestNoModule(t *testing.T) {
	if _, err := os.Stat("/dev/fsw_ramdisk"); err == nil {
		t.Fatal("fsw_ramdisk is loaded on this machine, and is only for guests: rmmod fsw_ramdisk")
	}
	c := connected(t)
	got := errnos(perform(t, c, DiskMake(0, 1<<20), Mkdir(filepath.Join(t.TempDir(), "d"), 0o755)))
	if !cmp.Equal(got, []unix.Errno{unix.ENOENT, 0}) {
		t.Errorf("error numbers %v", got)
	}
	got = errnos(perform(t, c, WatchWrites(0, true), MarkWrites("m"), EndWrites()))
	if !cmp.Equal(got, []unix.Errno{unix.ENOENT, unix.ENOENT, unix.ENOENT}) {
		t.Errorf("error numbers of the write set %v", got)
	}
	var remote *RemoteError
	if _, err := c.ReadLog(t.Context(), 0); !errors.As(err, &remote) {
		t.Errorf("the log of the RAM disks without a module: %v", err)
	}
	if _, err := c.ReadWrites(t.Context(), 0); !errors.As(err, &remote) {
		t.Errorf("the log of fsw_ekm without a module: %v", err)
	}
}

// TestStopAtError checks that a batch with StopAtError ends after the operation that fails.
func TestStopAtError(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	ops := []Op{Mkdir(dir+"/a", 0o700), Rmdir(dir + "/b"), Mkdir(dir+"/c", 0o700)}
	d, err := c.Do(t.Context(), Batch{Ops: ops, StopAtError: true, Timeout: time.Minute})
	if err != nil || d.TimedOut || !cmp.Equal(errnos(d.Results), []unix.Errno{0, unix.ENOENT}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(dir + "/c"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the operation after the failed one was performed")
	}
}

// TestTimeouts checks that an operation or command that does not end delays neither the answer nor
// other requests.
func TestTimeouts(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	perform(t, c, Mknod(fifo, unix.S_IFIFO|0o600, 0))
	begin := time.Now()
	ops := []Op{Mkdir(dir+"/a", 0o700), Open(0, fifo, unix.O_RDONLY, 0), Mkdir(dir+"/b", 0o700)}
	d, err := c.Do(t.Context(), Batch{Ops: ops, Timeout: 100 * time.Millisecond})
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("a batch that hangs was answered after %v", took)
	}
	if err != nil || !d.TimedOut || len(d.Results) != 1 || d.Results[0].Errno != 0 {
		t.Errorf("a batch that hangs: %+v, %v", d, err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	// Opening the other end lets the open of the batch return. The rest of the batch must not run.
	perform(t, c, Open(0, fifo, unix.O_WRONLY, 0))
	if _, err := os.Stat(dir + "/b"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a batch continued after its time-out")
	}

	e, err := c.Run(t.Context(), Command{Args: []string{"sh", "-c", "echo begun; sleep 1000"},
		Timeout: 200 * time.Millisecond})
	if err != nil || !e.TimedOut || e.Signal != unix.SIGKILL || string(e.Stdout) != "begun\n" {
		t.Errorf("a command that hangs: %+v, %v", e, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = c.Run(ctx, Command{Args: []string{"sleep", "0.5"}, Timeout: time.Minute})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call whose context has ended: %v", err)
	}
}

// TestRun checks the streams, the exit status and the bounds of commands, and Hello.
func TestRun(t *testing.T) {
	c := connected(t)
	run := func(args ...string) (Exit, error) {
		return c.Run(t.Context(), Command{Args: args, Env: []string{"X=x"}, Dir: "/tmp",
			Stdin: []byte("in"), Timeout: time.Minute})
	}
	e, err := run("sh", "-c", `cat; echo "$X in $PWD" >&2; exit 3`)
	if err != nil || e.Code != 3 || e.Signal != 0 || e.TimedOut || string(e.Stdout) != "in" ||
		string(e.Stderr) != "x in /tmp\n" {
		t.Errorf("a command with an exit status: %+v, %v", e, err)
	}
	e, err = run("sh", "-c", "kill -SEGV $$")
	if err != nil || e.Code != -1 || e.Signal != unix.SIGSEGV {
		t.Errorf("a command that a signal kills: %+v, %v", e, err)
	}
	e, err = run("head", "-c", "3000000", "/dev/zero")
	if err != nil || len(e.Stdout) != MaxData || e.Code != 1 ||
		!strings.Contains(string(e.Stderr), "not permitted") {
		t.Errorf("too much output: %d bytes, %d %q, %v", len(e.Stdout), e.Code, e.Stderr, err)
	}
	var remote *RemoteError
	if _, err = run("/no/such/program"); !errors.As(err, &remote) {
		t.Errorf("a program that does not exist: %v", err)
	}
	h, err := c.Hello(t.Context())
	if err != nil || h.Release == "" || len(h.BootID) != 36 || h.Uptime == 0 {
		t.Errorf("%+v, %v", h, err)
	}
}

// ServeInTurn performs all kinds of requests, one after the other, and ends with the connection.
func TestServeInTurn(t *testing.T) {
	host, guest := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- NewServer(guest).ServeInTurn(make(ubd.Area, ubd.AreaBytes)) }()
	c := NewClient(host)
	dir := t.TempDir()
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	got := errnos(perform(t, c, Mkdir(dir+"/a", 0o700), Mkdir(dir+"/a", 0o700), Rmdir(dir+"/a")))
	if diff := cmp.Diff([]unix.Errno{0, unix.EEXIST, 0}, got); diff != "" {
		t.Error(diff)
	}
	d, err := c.Do(t.Context(), Batch{Ops: []Op{Rmdir(dir + "/a"), Sync()}, StopAtError: true,
		Timeout: time.Minute})
	if err != nil || len(d.Results) != 1 || d.TimedOut {
		t.Errorf("%+v, %v", d, err)
	}
	e, err := c.Run(t.Context(), Command{Args: []string{"sh", "-c", "exit 3"}, Timeout: time.Minute})
	if err != nil || e.Code != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	if err := errors.Join(c.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// TestGroupRuns: a process group runs until its last process has ended, even if nobody waits for
// that process.
func TestGroupRuns(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & sleep 1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	group := cmd.Process.Pid
	if !groupRuns(group) {
		t.Error("a group does not run whose processes sleep")
	}
	if err := unix.Kill(-group, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); groupRuns(group); time.Sleep(killPoll) {
		if time.Now().After(end) {
			t.Fatal("a group runs whose processes were killed: one is a zombie")
		}
	}
	_ = cmd.Wait() // it was killed
}
