package linux

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"fsward/explore/agent"
)

// A slowConn answers late, as the agent of a kernel that seldom gets a processor.
type slowConn struct{ net.Conn }

func (c slowConn) Write(b []byte) (int, error) {
	time.Sleep(500 * time.Millisecond)
	return c.Conn.Write(b)
}

// A greeting that is answered late is answered.
func TestGreetSlow(t *testing.T) {
	path := filepath.Join(t.TempDir(), socketName)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _ = agent.NewServer(slowConn{conn}).Serve() }() // ends with the connection
	m := &Machine{ended: make(chan struct{})}
	if err := m.greet(t.Context(), listener); err != nil {
		t.Fatal(err)
	}
	if err := m.client.Close(); err != nil {
		t.Error(err)
	}
}

// A machine that does not start is closed, and is not there to be closed again.
func TestStartFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := Start(ctx, 1<<20); m != nil || err == nil {
		t.Errorf("%v, %v", m, err)
	}
}

// What a kernel that ended says is an error without holes.
func TestWhy(t *testing.T) {
	m := &Machine{ended: make(chan struct{})}
	close(m.ended)
	if got := m.why(io.EOF).Error(); got != "user-mode Linux ended: EOF: " {
		t.Errorf("%q", got)
	}
}
