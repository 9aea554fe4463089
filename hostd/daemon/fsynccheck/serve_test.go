package fsynccheck

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
)

// TestServe checks a guest that reports a call that is early and one that is not. A guest with
// another version, or that sends nonsense, ends only its own connection.
func TestServe(t *testing.T) {
	var d Diary
	early, sums := make(chan Early, 4), make(chan Sum, 4)
	h := &Host{Disks: []Disk{{Name: "root", Diary: &d, FS: func() string { return "ext3" }}},
		Log:     zaptest.NewLogger(t),
		OnEarly: func(e *Early) { early <- *e }, OnEnd: func(s Sum) { sums <- s }}
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "calls"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l) }()
	sendNonsense(t, l.Addr(), sums)

	c, lines := dial(t, l.Addr())
	fmt.Fprint(c, "the end of a line that another run has written\nfswcalls 1\ndisk 254,0 root\n")
	const behind = 500 // offset of the guest's clock, ns
	pong := func() {
		t.Helper()
		var n int64
		if !lines.Scan() {
			t.Fatal("no ping")
		}
		if _, err := fmt.Sscanf(lines.Text(), "ping %d", &n); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "pong %d %d\n", n, now()-behind)
	}
	pong()
	pong()
	d.wrote(4096, 512, now(), nil)
	pong()
	time.Sleep(300 * time.Millisecond) // far more than a ping takes
	fmt.Fprintf(c, "call sync 5 %d %d 254,0\n", now()-behind, now()-behind)
	pong()
	select {
	case e := <-early:
		if e.Call.Name != "sync" || e.Call.Thread != 5 || e.Writes != 1 || e.Off != 4096 || e.Never {
			t.Errorf("%+v", e)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the early call was not reported")
	}
	d.flushed(now())
	fmt.Fprintf(c, "call sync 6 %d %d 254,0\nlost\n", now()-behind, now()-behind)
	pong()
	pong()
	c.Close()
	if s := <-sums; s != (Sum{Judged: 2, Early: 1, Open: 1}) || len(early) > 0 {
		t.Errorf("%+v, and %d more are early", s, len(early))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, addr net.Addr) (net.Conn, *bufio.Scanner) {
	t.Helper()
	c, err := net.Dial("unix", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c, bufio.NewScanner(c)
}

// sendNonsense checks that a connection ends without an answer if its first lines are invalid.
func sendNonsense(t *testing.T, addr net.Addr, sums <-chan Sum) {
	t.Helper()
	for _, wrong := range []string{"fswcalls 9", "fswcalls 1\nnonsense", "fswcalls 1\ncall fsync",
		"fswcalls 1\npong x 1", "fswcalls 1\npong 1 -1",
		strings.Repeat("x", 2*maxLine)} {
		c, lines := dial(t, addr)
		fmt.Fprintln(c, wrong)
		if lines.Scan() {
			t.Errorf("%.20q: answered %q", wrong, lines.Text())
		}
		c.Close()
		if strings.HasPrefix(wrong, "fswcalls 1") {
			<-sums
		}
	}
}

// FuzzStream checks that a connection ends with an error or goes on, whatever a guest writes, and
// that memory is bounded.
func FuzzStream(f *testing.F) {
	f.Add("fswcalls 1\ndisk 254,0 root\ncall fsync 1 2 3 254,0:8+8@0m 254,16\npong 1 5\nlost\n")
	f.Add("call sync 1 2 3\nfswcalls 1\nfswcalls 1\npong 1 2")
	f.Fuzz(func(t *testing.T, text string) {
		var d Diary
		d.wrote(4096, 4096, 1, nil)
		h := &Host{Disks: []Disk{{Name: "root", Diary: &d, FS: func() string { return "btrfs" }}},
			OnEarly: func(*Early) {}, OnEnd: func(Sum) {}}
		s := &stream{host: h}
		for line := range strings.SplitSeq(text, "\n") {
			s.number, s.sent = 1, now() // each pong answers a ping
			if s.line(line) != nil {
				break
			}
		}
		s.finish()
	})
}
