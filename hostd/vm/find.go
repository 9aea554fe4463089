package vm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
)

// Found is a domain that somebody else defined and runs, on whose disks a guard stands. Safe for
// concurrent use, one Suspend at a time.
type Found struct {
	conn *libvirt.Connect
	dom  *libvirt.Domain
	name string
	log  *zap.Logger

	answered chan struct{} // closed when libvirt has answered the last Suspend
}

// Find connects to libvirt and looks a domain up by name. It need not run yet.
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
	return &Found{conn: conn, dom: dom, name: name, log: log}, nil
}

// Suspend stops the guest's processors. libvirt answers only when QEMU has finished the disk requests in
// flight, and the guard may be holding one of them, so Suspend goes by the state that libvirt reports.
func (f *Found) Suspend() error {
	f.answered = make(chan struct{})
	go func() {
		defer close(f.answered)
		if err := f.dom.Suspend(); err != nil {
			f.log.Error("cannot suspend the guest", zap.String("guest", f.name), zap.Error(err))
		}
	}()
	for deadline := time.Now().Add(suspendPatience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if state, _, err := f.dom.GetState(); err == nil && state == libvirt.DOMAIN_PAUSED {
			return nil
		}
	}
	return fmt.Errorf("the guest %s has not stopped within %v", f.name, suspendPatience)
}

// Resume continues the guest, at once or, while disk requests keep Suspend from being finished, when
// they are done.
func (f *Found) Resume() error {
	go func() {
		<-f.answered
		if err := f.dom.Resume(); err != nil {
			f.log.Error("cannot resume the guest", zap.String("guest", f.name), zap.Error(err))
		}
	}()
	return nil
}
