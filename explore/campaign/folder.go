package campaign

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// A folder is what connects to the server of a folder, whichever process has it. If no process has
// it any more, this one does from then on.
type folder struct {
	dir string

	mu     sync.Mutex
	server *Server // in this process; nil: in another, or closed
	closed bool
	err    error         // why there is no connection; nil: there is one
	stop   chan struct{} // closed by close
	watch  sync.WaitGroup
}

// healthWait is the time between two looks at a server's health.
const healthWait = time.Second

// InProcessConn returns a connection to the server. The NATS client calls it again whenever it has
// lost one.
func (f *folder) InProcessConn() (conn net.Conn, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, net.ErrClosed
	}
	defer func() { f.err = err }()
	if f.server == nil {
		if conn, err = f.dial(); err == nil {
			return conn, nil
		}
		if f.server, err = StartServer(f.dir); err != nil {
			return nil, err
		}
		s := f.server
		f.watch.Go(func() { f.mend(s) })
	}
	return f.server.InProcessConn()
}

// mend ends a server that cannot write, as when its disk was full. It would refuse everything, also
// when there is space again. Whoever connects next starts it again, if there is.
func (f *folder) mend(s *Server) {
	for {
		select {
		case <-f.stop:
			return
		case <-time.After(healthWait):
		}
		err := s.health()
		if err == nil {
			continue
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if !f.closed {
			f.server, f.err = nil, errors.Join(err, room(f.dir))
			s.Close()
		}
		return
	}
}

// trouble returns why there is no connection; nil: there is one.
func (f *folder) trouble() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// dial connects to the server of another process.
func (f *folder) dial() (net.Conn, error) {
	dir, err := os.Open(f.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return net.Dial("unix", socketPath(dir))
}

// close ends the server, if it is in this process.
func (f *folder) close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.stop)
	}
	if f.server != nil {
		f.server.Close()
		f.server = nil
	}
	f.mu.Unlock()
	f.watch.Wait()
}
