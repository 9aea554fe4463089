package campaign

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"
)

// Names in the folder of a campaign.
const (
	lockName   = "lock"   // the process with the server holds it
	storeName  = "store"  // of the server
	socketName = "socket" // through which other processes reach the server
)

// ErrInUse means that another process has the server of a folder.
var ErrInUse = errors.New("another process has the server of this folder")

// A Server is a NATS server in this process. It keeps its files in a folder and listens at no port;
// other processes reach it through a Unix socket in the folder, which only their user may open.
type Server struct {
	nats   *server.Server
	lock   *os.File
	dir    *os.File // the folder: its descriptor makes a short path of the socket
	socket net.Listener
	proxy  sync.WaitGroup
}

// serverStart bounds the time in which a server reads its files.
const serverStart = 2 * time.Minute

// StartServer starts the server of a folder. It returns ErrInUse if another process has it.
func StartServer(dir string) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := room(dir); err != nil {
		return nil, err
	}
	s := new(Server)
	if err := s.start(dir); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// maxStore bounds the files of a server, in bytes: not at all. By default it would be a part of
// what is free when the server starts, and later starts could refuse streams that exist.
const maxStore = 1 << 50

// minRoom is the space that a server needs to start, in bytes.
const minRoom = 4 << 20

// room returns an error if the disk of a folder is full.
func room(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	if free := s.Bavail * uint64(s.Bsize); free < minRoom {
		return fmt.Errorf("%w in %s: %d MiB are free, and the queue needs %d", unix.ENOSPC, dir, free>>20,
			minRoom>>20)
	}
	return nil
}

// start starts the server. After an error it may have started in part.
func (s *Server) start(dir string) (err error) {
	if s.lock, err = lock(filepath.Join(dir, lockName)); err != nil {
		return err
	}
	if s.dir, err = os.Open(dir); err != nil {
		return err
	}
	opts := &server.Options{ServerName: "fsward", DontListen: true, JetStream: true,
		StoreDir: filepath.Join(dir, storeName), SyncAlways: true, JetStreamMaxMemory: 64 << 20,
		JetStreamMaxStore: maxStore, NoSigs: true, NoLog: true}
	if s.nats, err = server.NewServer(opts); err != nil {
		return err
	}
	s.nats.Start()
	if !s.nats.ReadyForConnections(serverStart) {
		return fmt.Errorf("the NATS server in %s did not start within %v", dir, serverStart)
	}
	if !s.nats.JetStreamEnabled() {
		return fmt.Errorf("the NATS server in %s cannot use its files", dir)
	}
	return s.listen()
}

// lock locks a file, and returns ErrInUse if it is locked.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, err
	}
	return f, nil
}

// socketPath returns a path of the socket in an open folder. The path of a socket has at most 107
// bytes, and that of the folder may have more.
func socketPath(dir *os.File) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), socketName)
}

// listen serves other processes through the socket.
func (s *Server) listen() error {
	path := socketPath(s.dir)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	if s.socket, err = net.Listen("unix", path); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	s.proxy.Go(func() {
		for {
			outside, err := s.socket.Accept()
			if err != nil {
				return // closed
			}
			inside, err := s.nats.InProcessConn()
			if err != nil {
				outside.Close()
				continue
			}
			s.proxy.Go(func() { pipe(outside, inside) })
		}
	})
	return nil
}

// pipe copies both ways between two connections until one is closed.
func pipe(a, b net.Conn) {
	var w sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		w.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // an error ends the connection, as its end does
			way[0].Close()
			way[1].Close()
		})
	}
	w.Wait()
}

// InProcessConn returns a connection to the server.
func (s *Server) InProcessConn() (net.Conn, error) { return s.nats.InProcessConn() }

// health returns an error if the server could not write. It accepts nothing more then. A stream
// that somebody makes at this moment has a folder before the server knows it, and counts as one
// that "could not be recovered"; that is no such error.
func (s *Server) health() error {
	for _, e := range s.nats.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if e.Type != server.HealthzErrorStream || strings.Contains(e.Error, "write error") {
			return errors.New(e.Error)
		}
	}
	return nil
}

// Close ends the server. What it acknowledged is in its files.
func (s *Server) Close() {
	if s.socket != nil {
		s.socket.Close()
	}
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	s.proxy.Wait()
	for _, f := range []*os.File{s.dir, s.lock} {
		if f != nil {
			f.Close()
		}
	}
}
