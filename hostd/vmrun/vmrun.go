// Package vmrun starts a libvirt guest on guarded disks and waits for it. Start reading at Run.
package vmrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"fsward/blocktap/nbd"
	"fsward/change"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/vm"
)

// Config describes a guest and its guarded disks.
type Config struct {
	daemon.Config
	Guest vm.Config // Disks are filled in
	// folder of sockets, the console file and the state of a private libvirtd; "" for a temporary one
	RunDir  string
	Control string // path of the control socket; "" for none
}

// Run starts a guest through libvirt on guarded disks and waits until it is gone. It returns how
// the guest ended and the worst verdict of its commits. If ctx ends, the guest is powered off.
func Run(ctx context.Context, cfg Config, log *zap.Logger) (
	end vm.End, judged change.Outcome, err error) {
	s, err := Open(ctx, cfg, log)
	if err != nil {
		return end, judged, err
	}
	domain, err := s.Start(ctx, cfg.Guest)
	if err == nil {
		end, err = domain.Wait(ctx)
	}
	stopped := s.endServing()
	judged = s.Outcome()
	return end, judged, errors.Join(err, stopped, s.Close())
}

// A Session is a daemon that serves its disks and a connection to libvirt. Several guests can run
// in it, one after the other.
type Session struct {
	*daemon.Daemon
	host   *vm.Host
	guest  *guestRef
	dir    string
	rmDir  bool
	socket string // of the disks
	calls  string // path of the socket for the guest's calls; "" for none
	served *errgroup.Group
	stop   context.CancelFunc
}

// Open opens the disks, serves them and connects to libvirt.
func Open(ctx context.Context, cfg Config, log *zap.Logger) (s *Session, err error) {
	if err := vm.Supported(); err != nil {
		return nil, err
	}
	s = &Session{guest: &guestRef{}, dir: cfg.RunDir}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.dir == "" {
		s.rmDir = true
		if s.dir, err = os.MkdirTemp("", "fsward-"); err != nil {
			return s, err
		}
	} else if err = os.MkdirAll(s.dir, 0o700); err != nil {
		return s, err
	}
	cfg.Config.Guest = s.guest
	if s.Daemon, err = daemon.Open(cfg.Config, log); err != nil {
		return s, err
	}
	s.socket = filepath.Join(s.dir, "nbd")
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.served, serving = errgroup.WithContext(serving)
	s.served.Go(func() error { return s.Serve(serving, daemon.TransportNBD, s.socket) })
	if cfg.Calls {
		s.calls = filepath.Join(s.dir, "calls")
		l, err := nbd.Listen(s.calls)
		if err != nil {
			return s, err
		}
		s.served.Go(func() error { return s.ServeCallsOn(serving, l) })
	}
	if cfg.Control != "" {
		s.served.Go(func() error { return s.ServeControl(serving, cfg.Control) })
	}
	s.host, err = vm.Connect(ctx, s.dir, log)
	return s, err
}

// Start starts a guest with every disk of the session, in their order; their names are their
// serials.
func (s *Session) Start(ctx context.Context, cfg vm.Config) (*vm.Domain, error) {
	for _, name := range s.Names() {
		cfg.Disks = append(cfg.Disks, vm.Disk{NBDSocket: s.socket, Export: name, Serial: name})
	}
	cfg.Calls = s.calls
	if cfg.Console == "" {
		cfg.Console = filepath.Join(s.dir, cfg.Name+".log")
	}
	domain, err := s.host.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.guest.set(domain)
	return domain, nil
}

// Close ends the guests, a private libvirtd, and the guard, in this order.
func (s *Session) Close() error {
	errs := []error{s.endServing()}
	if s.Daemon != nil {
		errs = append(errs, s.Daemon.Close())
	}
	if err := errors.Join(errs...); err != nil || !s.rmDir {
		return err
	}
	return os.RemoveAll(s.dir)
}

// endServing ends the guest, the server and the recording, so that Outcome is final. Later calls do
// nothing.
func (s *Session) endServing() error {
	var errs []error
	if s.host != nil {
		errs = append(errs, s.host.Close())
		s.host = nil
	}
	if s.stop != nil {
		s.stop()
		errs = append(errs, s.served.Wait())
		s.stop = nil
	}
	if s.Daemon != nil {
		errs = append(errs, s.EndRecording())
	}
	return errors.Join(errs...)
}

// guestRef is the guest of a policy that exists before the guest does.
type guestRef struct {
	mu    sync.Mutex
	guest guard.Suspender
}

func (r *guestRef) set(g guard.Suspender) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guest = g
}

func (r *guestRef) get() (guard.Suspender, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guest == nil {
		return nil, errors.New("no guest runs yet")
	}
	return r.guest, nil
}

// Suspend suspends the guest.
func (r *guestRef) Suspend() error {
	g, err := r.get()
	if err != nil {
		return err
	}
	return g.Suspend()
}

// Resume resumes the guest.
func (r *guestRef) Resume() error {
	g, err := r.get()
	if err != nil {
		return err
	}
	return g.Resume()
}
