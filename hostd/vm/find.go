//go:build cgo

package vm

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// Found is a domain that somebody else defined and runs, and whose disks are guarded. It is safe
// for concurrent use.
type Found struct{ pauser pauser }

// Find connects to libvirt and looks up a domain by name. The domain need not run yet. The
// connection stays open for the life of the process.
func Find(ctx context.Context, uri, name string, log *zap.Logger) (*Found, error) {
	if err := startEvents(); err != nil {
		return nil, fmt.Errorf("cannot start libvirt's event loop: %w", err)
	}
	conn, err := dialLibvirt(ctx, uri)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to libvirt at %s (is libvirtd running?): %w", uri, err)
	}
	dom, err := conn.LookupDomainByName(name)
	if err != nil {
		_, closeErr := conn.Close()
		return nil, errors.Join(fmt.Errorf("no domain %q at %s: %w", name, uri, err), closeErr)
	}
	return &Found{pauser{dom: dom, name: name, log: log}}, nil
}

// Suspend stops the guest's processors. It does not wait for disk requests in flight.
func (f *Found) Suspend() error { return f.pauser.suspend() }

// Resume resumes a guest that Suspend stopped, when the disk requests in flight are done.
func (f *Found) Resume() error { return f.pauser.resume() }
