package campaign

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// A link is a TCP proxy that can stall, and that can be cut.
type link struct {
	to   string
	pass sync.RWMutex // held by who stalls it

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

// newLink returns a link to an address, and its URL.
func newLink(t *testing.T, to string) (l *link, url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = &link{to: to}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // closed
			}
			far, ok := l.dial(near)
			if !ok {
				near.Close()
				continue
			}
			all.Go(func() { l.copy(near, far) })
			all.Go(func() { l.copy(far, near) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.cut(true)
		all.Wait()
	})
	return l, "nats://" + listener.Addr().String()
}

// dial connects the other side of a connection, unless the link is cut.
func (l *link) dial(near net.Conn) (far net.Conn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, false
	}
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		return nil, false
	}
	l.conns = append(l.conns, near, far)
	return far, true
}

// copy copies one way.
func (l *link) copy(to, from net.Conn) {
	defer to.Close()
	for b := make([]byte, 4096); ; {
		n, err := from.Read(b)
		l.pass.RLock()
		l.pass.RUnlock() //nolint:staticcheck // waits while the link stalls
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// cut cuts the link, or mends it.
func (l *link) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down = down; down {
		for _, c := range l.conns {
			c.Close()
		}
		l.conns = nil
	}
}

// stall stalls the link, or lets everything through that waits.
func (l *link) stall(on bool) {
	if on {
		l.pass.Lock()
	} else {
		l.pass.Unlock()
	}
}

// tcpServer runs a server at a port of the loopback device, and returns its address.
func tcpServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), SyncAlways: true, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.Addr().String()
}

// A worker behind a network partition that is longer than its lease loses its unit to another, and
// finishes it. Everything counts once.
func TestPartition(t *testing.T) {
	for name, part := range map[string]func(*link, bool){"stall": (*link).stall, "cut": (*link).cut} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := tcpServer(t)
			l, url := newLink(t, address)
			partition(t, "nats://"+address, url, func(on bool) { part(l, on) }, name == "cut")
		})
	}
}

// partition runs a worker near the server, and one at a URL behind a partition, which has a unit
// when it begins. tells says that the far one notices.
func partition(t *testing.T, server, far string, part func(bool), tells bool) {
	t.Helper()
	connectTo := func(url string) *Client {
		c, err := Connect(t.Context(), Address{URL: url}, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	const n = 40
	near := connectTo(server)
	q := submitted(t, near, testDefinition("a", n, 1))
	var seen runs
	var told atomic.Bool
	apart, resume := make(chan struct{}), make(chan struct{})
	work := func(task Task) Done {
		seen.add(task.Unit)
		return Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1}}}
	}
	var once sync.Once
	farWorker := newWorker(connectTo(far), "far", func(_ context.Context, task Task) (Done, error) {
		once.Do(func() {
			part(true)
			close(apart)
			<-resume
		})
		return work(task), nil
	})
	farWorker.OnEvent = func(e Event) {
		if e.Event == "trouble" && strings.Contains(e.Text, "away") {
			told.Store(true)
		}
	}
	var all sync.WaitGroup
	all.Go(func() { run(t, farWorker) })
	<-apart
	run(t, newWorker(near, "near", func(_ context.Context, task Task) (Done, error) {
		return work(task), nil
	}))
	if s := isDone(t, q, n); len(s.Workers) != 1 {
		t.Errorf("%+v", s.Workers)
	}
	close(resume) // and its result waits for the network
	time.Sleep(testLease / 2)
	part(false)
	all.Wait()
	s := isDone(t, q, n)
	list, bad, err := q.Findings(t.Context())
	if err != nil || bad != 0 || len(list) != 1 || s.Found(list[0].Key) != n || s.Differences != 0 {
		t.Errorf("%+v, %d bad, %v; %+v", list, bad, err, s.Tally)
	}
	if units, most := seen.most(); units != n || most != 2 {
		t.Errorf("%d units ran, at most %d times", units, most)
	}
	if told.Load() != tells {
		t.Errorf("the far worker reports that the server is away: %v", told.Load())
	}
}
