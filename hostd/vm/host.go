//go:build cgo

package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
)

// A Host is a connection to a libvirtd, and that libvirtd if it is a private one. It is safe for
// concurrent use.
type Host struct {
	conn    *libvirt.Connect
	uri     string
	dir     string // the run directory, absolute
	lock    *os.File
	private *daemon // nil for the system's libvirtd
	log     *zap.Logger

	kvm sync.Once
	// noKVM is why guests do not run under KVM here; nil if they do. kvm sets it.
	noKVM error

	mu      sync.Mutex
	domains map[string]*Domain // by uuid
	closing bool
}

// The sockets of the system's libvirtd: of the single daemon, and of the QEMU part of the split
// one.
var systemSockets = []string{"/run/libvirt/libvirt-sock", "/run/libvirt/virtqemud-sock"}

const systemURI = "qemu:///system"

// Connect connects to libvirtd. Root uses the system's libvirtd if it runs. Otherwise, and for
// every other user, Connect starts a private one. All its files lie in runDir, and Close ends it.
// One process at a time uses a run directory. Domains and a libvirtd that a killed process left
// there are ended.
func Connect(ctx context.Context, runDir string, log *zap.Logger) (*Host, error) {
	dir, err := filepath.Abs(runDir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	h := &Host{dir: dir, log: log, domains: make(map[string]*Domain)}
	if h.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	if err := h.connect(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) connect(ctx context.Context) error {
	if err := startEvents(); err != nil {
		return fmt.Errorf("cannot start libvirt's event loop: %w", err)
	}
	// A private libvirtd of an earlier run is ours alone: nobody uses it any more.
	if err := endLeftover(ctx, h.dir); err != nil {
		return err
	}
	if os.Geteuid() == 0 && h.connectSystem(ctx) {
		h.log.Info("using the system's libvirtd", zap.String("uri", h.uri))
	} else {
		var err error
		if h.private, err = startDaemon(ctx, h.dir, h.log); err != nil {
			return err
		}
		h.uri = h.private.uri
		if h.conn, err = dialLibvirt(ctx, h.uri); err != nil {
			return fmt.Errorf("the private libvirtd does not answer: %w; see %s", err, h.private.logFile)
		}
	}
	if err := h.watch(); err != nil {
		return fmt.Errorf("cannot watch domains: %w", err)
	}
	// The connection is probed every five seconds and closed after six probes without an answer.
	if err := h.conn.SetKeepAlive(5, 6); err != nil {
		return fmt.Errorf("cannot keep the connection to libvirtd alive: %w", err)
	}
	if h.private != nil {
		return h.endLeftoverDomains()
	}
	return nil
}

// connectSystem connects to the system's libvirtd, and reports whether there is one.
func (h *Host) connectSystem(ctx context.Context) bool {
	for _, socket := range systemSockets {
		if _, err := os.Stat(socket); err != nil {
			continue
		}
		conn, err := dialLibvirt(ctx, systemURI)
		if err == nil {
			h.conn, h.uri = conn, systemURI
			return true
		}
		h.log.Info("no libvirtd answers at its socket", zap.String("socket", socket), zap.Error(err))
		return false
	}
	return false
}

// dialLibvirt connects; libvirt itself has no timeout for that.
func dialLibvirt(ctx context.Context, uri string) (*libvirt.Connect, error) {
	type result struct {
		conn *libvirt.Connect
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := libvirt.NewConnect(uri)
		done <- result{conn, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() { // closes the connection if it comes later
			if r := <-done; r.conn != nil {
				_, _ = r.conn.Close()
			}
		}()
		return nil, fmt.Errorf("no answer at %s: %w", uri, ctx.Err())
	}
}

// endLeftoverDomains ends the domains that a private libvirtd of this run directory still runs.
func (h *Host) endLeftoverDomains() error {
	all, err := h.conn.ListAllDomains(0)
	if err != nil {
		return fmt.Errorf("cannot list domains: %w", err)
	}
	for i := range all {
		name, _ := all[i].GetName()
		h.log.Info("ending a guest that an earlier run left", zap.String("guest", name))
		if e := all[i].Destroy(); e != nil && !isNoDomain(e) {
			err = errors.Join(err, fmt.Errorf("cannot end the guest %s that an earlier run left: %w", name,
				e))
		}
		_ = all[i].Free()
	}
	return err
}

// URI returns the address for virsh -c.
func (h *Host) URI() string { return h.uri }

// Private reports whether Connect started the libvirtd.
func (h *Host) Private() bool { return h.private != nil }

// accel chooses what a domain with a kernel runs on. KVM is tried once, with the first kernel.
func (h *Host) accel(ctx context.Context, want Accel, kernel string) (Accel, error) {
	if want == AccelTCG {
		return AccelTCG, nil
	}
	if want != AccelAuto && want != AccelKVM {
		return "", fmt.Errorf("unknown accelerator %q: expected kvm or tcg", want)
	}
	qemu, err := findProgram("qemu-system-x86_64", "qemu-system-x86")
	if err != nil {
		return "", err
	}
	h.kvm.Do(func() {
		if h.noKVM = probeKVM(ctx, qemu, kernel); h.noKVM != nil && want == AccelAuto {
			h.log.Info("guests run under TCG, which is slow: KVM does not work here",
				zap.NamedError("because", h.noKVM))
		}
	})
	switch {
	case h.noKVM == nil:
		return AccelKVM, nil
	case want == AccelKVM:
		return "", fmt.Errorf("KVM was asked for and does not work here: %w", h.noKVM)
	}
	return AccelTCG, nil
}

// Emulated reports whether a domain that was started here runs under TCG because KVM does not work.
func (h *Host) Emulated() bool { return h.noKVM != nil }

// Close ends every domain started here, the connection, and a private libvirtd. No Start may be
// running.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closing = true
	domains := h.running()
	h.mu.Unlock()
	var errs []error
	for _, d := range domains {
		errs = append(errs, d.Close())
	}
	if h.conn != nil {
		_, err := h.conn.Close()
		errs = append(errs, err)
		h.conn = nil
	}
	if h.private != nil {
		errs = append(errs, h.private.stop())
		h.private = nil
	}
	if h.lock != nil {
		errs = append(errs, h.lock.Close())
		h.lock = nil
	}
	return errors.Join(errs...)
}

// isNoDomain reports whether an error means that the domain does not exist (any more).
func isNoDomain(err error) bool {
	var e libvirt.Error
	return errors.As(err, &e) && e.Code == libvirt.ERR_NO_DOMAIN
}

// isNameTaken reports whether a domain cannot be made because another one has its name.
func isNameTaken(err error) bool {
	var e libvirt.Error
	return errors.As(err, &e) && e.Code == libvirt.ERR_OPERATION_FAILED &&
		strings.Contains(e.Message, "already exists")
}
