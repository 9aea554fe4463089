package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// connected returns a client of a server in this process.
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

func perform(t *testing.T, c *Client, ops ...Op) []Result {
	t.Helper()
	d, err := c.Do(t.Context(), Batch{Ops: ops, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if d.TimedOut || len(d.Results) != len(ops) {
		t.Fatalf("%d results of %d operations, timed out: %t", len(d.Results), len(ops), d.TimedOut)
	}
	return d.Results
}

func errnos(list []Result) (out []unix.Errno) {
	for _, r := range list {
		out = append(out, r.Errno)
	}
	return out
}

// Each operation does what the system call does, and fails as it does.
func TestOperations(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	mtime := time.Unix(1_000_000_000, 7)
	results := perform(t, c,
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
	)
	want := make([]unix.Errno, len(results))
	want[1], want[3], want[12], want[17], want[18], want[19], want[26], want[27] =
		unix.EEXIST, unix.ENOENT, unix.EBADF, unix.EEXIST, unix.ENOTEMPTY, unix.EISDIR, unix.EINVAL, unix.EINVAL
	if os.Geteuid() != 0 {
		want[27] = unix.EPERM
	}
	if d := cmp.Diff(want, errnos(results)); d != "" {
		t.Fatalf("error numbers (-want +got):\n%s", d)
	}
	if results[4].Value != 4 || results[5].Value != 50 {
		t.Errorf("%d and %d bytes were written, want 4 and 50", results[4].Value, results[5].Value)
	}
	if got, want := results[6].Data, []byte("\x00\x00\x00text\x00\x00\x00\x00\x00\x00\x00\x00\x00"); !bytes.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	if got := string(results[15].Data); got != "d/f" {
		t.Errorf("the link leads to %q", got)
	}
	if got := string(results[24].Data); got != "d\x00p\x00s\x00" || results[24].Value != 3 {
		t.Errorf("the directory has %q", got)
	}
	stat, err := DecodeTree(results[25].Data)
	if err != nil {
		t.Fatal(err)
	}
	if e := stat[0]; e.Mode != unix.S_IFREG|0o640 || e.Links != 2 || e.Size != 10 {
		t.Errorf("the file is %+v", e)
	}

	tree := perform(t, c, Truncate(at("d/f"), 3), Utimes(at("d/f"), mtime, mtime), Tree(dir))
	entries, err := DecodeTree(tree[2].Data)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range entries {
		paths = append(paths, e.Path)
		if e.Errno != 0 {
			t.Errorf("%s: %v", e.Path, e.Errno)
		}
		if strings.HasPrefix(e.Path, "d/") && (e.Sum != sha256.Sum256([]byte{0, 0, 0}) || e.Mtime != mtime.UnixNano()) {
			t.Errorf("%+v", e)
		}
		if e.Path == "s" && e.Target != "d/f" {
			t.Errorf("%+v", e)
		}
	}
	if d := cmp.Diff([]string{".", "d", "d/f", "d/h", "s"}, paths); d != "" {
		t.Errorf("the tree (-want +got):\n%s", d)
	}
}

// Without the module its operations fail, and nothing else does.
func TestNoModule(t *testing.T) {
	if _, err := os.Stat("/dev/fsw_ramdisk"); err == nil {
		t.Fatal("fsw_ramdisk is loaded on this machine: it is for guests; rmmod fsw_ramdisk")
	}
	c := connected(t)
	if got := errnos(perform(t, c, DiskMake(0, 1<<20), Sync())); !cmp.Equal(got, []unix.Errno{unix.ENOENT, 0}) {
		t.Errorf("error numbers %v", got)
	}
	if got := errnos(perform(t, c, WatchWrites(0, true), MarkWrites("m"), EndWrites())); !cmp.Equal(got, []unix.Errno{unix.ENOENT, unix.ENOENT, unix.ENOENT}) {
		t.Errorf("error numbers of the write set %v", got)
	}
	var remote *RemoteError
	for _, read := range []func(context.Context, time.Duration) ([]byte, error){c.ReadLog, c.ReadWrites} {
		if _, err := read(t.Context(), 0); !errors.As(err, &remote) {
			t.Errorf("the log without a module: %v", err)
		}
	}
}

func TestStopAtError(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	d, err := c.Do(t.Context(), Batch{Ops: []Op{Mkdir(dir+"/a", 0o700), Rmdir(dir + "/b"), Mkdir(dir+"/c", 0o700)},
		StopAtError: true, Timeout: time.Minute})
	if err != nil || d.TimedOut || !cmp.Equal(errnos(d.Results), []unix.Errno{0, unix.ENOENT}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := os.Stat(dir + "/c"); !errors.Is(err, os.ErrNotExist) {
		t.Error("what follows an error was done")
	}
}

// An operation that does not end does not hold up the answer, other requests or pings.
func TestTimeouts(t *testing.T) {
	c := connected(t)
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	perform(t, c, Mknod(fifo, unix.S_IFIFO|0o600, 0))
	begin := time.Now()
	d, err := c.Do(t.Context(), Batch{Ops: []Op{Mkdir(dir+"/a", 0o700), Open(0, fifo, unix.O_RDONLY, 0), Mkdir(dir+"/b", 0o700)},
		Timeout: 100 * time.Millisecond})
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("a batch that hangs was answered after %v", took)
	}
	if err != nil || !d.TimedOut || len(d.Results) != 1 || d.Results[0].Errno != 0 {
		t.Errorf("a batch that hangs: %+v, %v", d, err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	// The other end lets it go; what was left of the batch is not done.
	perform(t, c, Open(0, fifo, unix.O_WRONLY, 0))
	if _, err := os.Stat(dir + "/b"); !errors.Is(err, os.ErrNotExist) {
		t.Error("a batch went on after its time")
	}

	e, err := c.Run(t.Context(), Command{Args: []string{"sh", "-c", "echo begun; sleep 1000"}, Timeout: 200 * time.Millisecond})
	if err != nil || !e.TimedOut || e.Signal != unix.SIGKILL || string(e.Stdout) != "begun\n" {
		t.Errorf("a command that hangs: %+v, %v", e, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Run(ctx, Command{Args: []string{"sleep", "0.5"}, Timeout: time.Minute}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call whose context has ended: %v", err)
	}
}

func TestRun(t *testing.T) {
	c := connected(t)
	e, err := c.Run(t.Context(), Command{Args: []string{"sh", "-c", `cat; echo "$X in $PWD" >&2; exit 3`}, Env: []string{"X=x"}, Dir: "/tmp",
		Stdin: []byte("in"), Timeout: time.Minute})
	if err != nil || e.Code != 3 || e.Signal != 0 || e.TimedOut || string(e.Stdout) != "in" || string(e.Stderr) != "x in /tmp\n" {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = c.Run(t.Context(), Command{Args: []string{"sh", "-c", "kill -SEGV $$"}, Timeout: time.Minute})
	if err != nil || e.Code != -1 || e.Signal != unix.SIGSEGV {
		t.Errorf("%+v, %v", e, err)
	}
	e, err = c.Run(t.Context(), Command{Args: []string{"head", "-c", "3000000", "/dev/zero"}, Timeout: time.Minute})
	if err != nil || len(e.Stdout) != MaxData || e.Code != 1 || !strings.Contains(string(e.Stderr), "not permitted") {
		t.Errorf("%d bytes, %d %q, %v", len(e.Stdout), e.Code, e.Stderr, err)
	}
	var remote *RemoteError
	if _, err = c.Run(t.Context(), Command{Args: []string{"/no/such/program"}, Timeout: time.Minute}); !errors.As(err, &remote) {
		t.Errorf("no program: %v", err)
	}
	h, err := c.Hello(t.Context())
	if err != nil || h.Release == "" || len(h.BootID) != 36 || h.Uptime == 0 {
		t.Errorf("%+v, %v", h, err)
	}
}

// awaitRequest returns when a request is under way.
func (c *Client) awaitRequest() {
	for {
		c.mu.Lock()
		n := len(c.waiting)
		c.mu.Unlock()
		if n > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// While a checkpoint is made nothing is performed, and what was lost of the stream by going back to it is found over.
func TestHoldAndCut(t *testing.T) {
	c := connected(t)
	ctx := t.Context()
	slow := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, Command{Args: []string{"sleep", "0.3"}, Timeout: time.Minute})
		slow <- err
	}()
	c.awaitRequest()
	if err := c.Hold(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("with a request under way: %v", err)
	}
	if err := <-slow; err != nil {
		t.Fatal(err)
	}
	if err := c.Hold(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(ctx); !errors.Is(err, ErrBusy) {
		t.Errorf("a request while it is held: %v", err)
	}
	// As one that came before the guest was put back: the server passes over it, and over a part of a frame.
	file := filepath.Join(t.TempDir(), "made")
	b := Batch{Ops: []Op{Mkdir(file, 0o700)}, Timeout: time.Minute}
	f := frame{kind: kindDo, id: 1 << 40, payload: b.encode()}
	stale := f.encode()
	if _, err := c.conn.Write(append(stale, stale[7:]...)); err != nil {
		t.Fatal(err)
	}
	if err := c.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a request was performed while the agent was to pass over all")
	}

	go func() {
		_, err := c.Run(ctx, Command{Args: []string{"sleep", "0.2"}, Timeout: time.Minute})
		slow <- err
	}()
	c.awaitRequest()
	if err := c.Cut(); err != nil {
		t.Fatal(err)
	}
	if err := <-slow; !errors.Is(err, ErrCut) {
		t.Errorf("a request that was under way: %v", err)
	}
	if err := c.Release(ctx); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // the answer of what was given up comes, and nobody waits for it
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
}

// A guest that is put back hears Release, wherever the request was cut that the host was sending, and however much of it the guest had
// read before it was put back.
func TestCutRequest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made")
	batch := Batch{Ops: []Op{Write(0, 0, make([]byte, 200_000)), Mkdir(file, 0o700)}, Timeout: time.Minute}
	for _, sent := range []int{7, headerSize, headerSize + 1, 100_000} {
		for _, taken := range []int{0, 1, headerSize, headerSize + 500} {
			if taken > sent {
				continue
			}
			host, guest := net.Pipe()
			c := NewClient(host)
			asked := make(chan error, 1)
			go func() {
				_, err := c.Do(t.Context(), batch)
				asked <- err
			}()
			part := make([]byte, sent)
			if _, err := io.ReadFull(guest, part); err != nil {
				t.Fatal(err)
			}
			if err := c.Cut(); err != nil {
				t.Fatal(err)
			}
			if err := <-asked; !errors.Is(err, ErrCut) {
				t.Errorf("the request that was cut: %v", err)
			}
			// The guest as it was: it holds, and reads what it had not read then.
			hold := frame{kind: kindHold, id: 1 << 40}
			served := make(chan error, 1)
			go func() {
				in := io.MultiReader(bytes.NewReader(hold.encode()), bytes.NewReader(part[taken:]), guest)
				served <- NewServer(struct {
					io.Reader
					io.Writer
				}{in, guest}).Serve()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if err := c.Release(ctx); err != nil {
				t.Fatalf("%d bytes sent, %d read before: %v", sent, taken, err)
			}
			if err := c.Ping(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			if err := errors.Join(c.Close(), <-served); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a request that was cut was performed")
	}
}

func TestClosed(t *testing.T) {
	host, guest := net.Pipe()
	c := NewClient(host)
	_ = guest.Close()
	if err := c.Ping(t.Context()); !errors.Is(err, ErrClosed) && !errors.Is(err, os.ErrClosed) && err == nil {
		t.Errorf("a guest that is gone: %v", err)
	}
	for range 2 {
		if err := c.Ping(t.Context()); err == nil {
			t.Error("a guest that is gone answers")
		}
	}
	_ = c.Close()
}

// A guest whose clock went back meanwhile is one that works.
func TestDoneOfAClockThatWentBack(t *testing.T) {
	d := Done{Took: -5 * time.Millisecond, Results: []Result{{Value: 7}}}
	got, err := decodeDone(d.encode())
	if err != nil || got.Took != 0 || len(got.Results) != 1 || got.Results[0].Value != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}
