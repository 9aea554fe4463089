//go:build cgo

package vm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// drainTimeout bounds how long Wait waits for the rest of the console's output.
const drainTimeout = 5 * time.Second

// lifetime is whether a domain is gone, and how it ended.
type lifetime struct {
	gone chan struct{} // closed when the domain is gone
	once sync.Once
	how  End // set when gone is closed
}

// end notes the end. The first call counts.
func (l *lifetime) end(e End) {
	l.once.Do(func() {
		l.how = e
		close(l.gone)
	})
}

// over reports whether the domain is gone.
func (l *lifetime) over() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// Gone is closed when the domain is gone.
func (d *Domain) Gone() <-chan struct{} { return d.life.gone }

// Wait waits until the domain is gone and all of its console has been read, and returns how it
// ended. If ctx ends, the error says where to look for the cause, and the domain goes on running.
func (d *Domain) Wait(ctx context.Context) (End, error) {
	select {
	case <-d.life.gone:
	case <-ctx.Done():
		return End{}, fmt.Errorf("the guest %s has not ended: %w; %s", d.cfg.Name, context.Cause(ctx),
			d.where())
	}
	select {
	case <-d.console.done:
	case <-time.After(drainTimeout):
	}
	e := d.life.how
	_, e.Panic = d.console.state()
	d.console.mu.Lock()
	err := d.console.err
	d.console.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("the guest ended (%s), but its console was not kept in full: %w", e, err)
	}
	return e, err
}

// Suspend stops the guest's processors. It does not wait for disk requests in flight, which their
// server may hold. A guest that is suspended already is not an error.
func (d *Domain) Suspend() error {
	if err := d.pauser.suspend(); err != nil {
		return fmt.Errorf("%w; %s", err, d.where())
	}
	return nil
}

// Resume resumes a guest that Suspend stopped. While disk requests delay the suspension, it returns
// at once, and the guest is resumed when they are done.
func (d *Domain) Resume() error { return d.pauser.resume() }

// Destroy ends the guest as a power cut would. A guest that is gone is not an error.
func (d *Domain) Destroy() error {
	if d.life.over() {
		return nil
	}
	if err := d.dom.Destroy(); err != nil && !isNoDomain(err) {
		return fmt.Errorf("cannot end the guest %s: %w", d.cfg.Name, err)
	}
	return nil
}

// Close ends the guest if it runs, and frees what belongs to it. The console's file stays.
func (d *Domain) Close() error {
	d.host.mu.Lock()
	ours := d.host.domains[d.uuid] == d
	d.host.mu.Unlock()
	if !ours {
		return nil // closed before
	}
	errs := []error{d.Destroy()}
	select {
	case <-d.life.gone:
	case <-time.After(drainTimeout):
	}
	select {
	case <-d.console.done:
	case <-time.After(drainTimeout):
	}
	if d.channel != nil {
		errs = append(errs, d.channel.Close())
	}
	d.host.forget(d)
	return errors.Join(append(errs, d.dom.Free())...)
}
