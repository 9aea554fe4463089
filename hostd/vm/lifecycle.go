package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"
)

// suspendPatience is how long Suspend waits for libvirt. Before QEMU says that a guest is stopped it waits
// for the guest's disk requests, and one of them may be the very write that its server holds.
const suspendPatience = 2 * time.Second

// drainTimeout bounds how long Wait waits for the rest of the console's output.
const drainTimeout = 5 * time.Second

// stopped notes the end; the first call counts.
func (d *Domain) stopped(e End) {
	d.once.Do(func() {
		d.end = e
		close(d.gone)
	})
}

// Gone is closed when the domain is gone.
func (d *Domain) Gone() <-chan struct{} { return d.gone }

// Wait waits until the domain is gone and all of its console has been read, and says how it ended. Its error
// when ctx ends says what to look at; the domain is left running then.
func (d *Domain) Wait(ctx context.Context) (End, error) {
	select {
	case <-d.gone:
	case <-ctx.Done():
		return End{}, fmt.Errorf("the guest %s has not ended: %w; %s", d.cfg.Name, context.Cause(ctx), d.where())
	}
	select {
	case <-d.console.done:
	case <-time.After(drainTimeout):
	}
	e := d.end
	_, e.Panic = d.console.state()
	d.console.mu.Lock()
	err := d.console.err
	d.console.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("the guest ended (%s), but its console was not kept in full: %w", e, err)
	}
	return e, err
}

// Suspend stops the guest's processors. It returns when they have stopped; with a request in flight to a
// disk whose server holds it, libvirt reports that only when the request is done, and Suspend does not
// wait for it.
func (d *Domain) Suspend() error {
	done := make(chan struct{})
	d.mu.Lock()
	d.suspended = done
	d.mu.Unlock()
	var err error
	go func() {
		defer close(done)
		if err = d.dom.Suspend(); err != nil {
			d.log.Error("cannot suspend the guest", zap.Error(err))
		}
	}()
	select {
	case <-done:
		return err
	case <-time.After(suspendPatience):
		return nil
	}
}

// Resume continues the guest. While a Suspend is not finished it returns at once, and the guest
// continues when it is.
func (d *Domain) Resume() error {
	d.mu.Lock()
	suspended := d.suspended
	d.mu.Unlock()
	if suspended == nil {
		return d.dom.Resume()
	}
	select {
	case <-suspended:
		return d.dom.Resume()
	default:
	}
	go func() {
		<-suspended
		if err := d.dom.Resume(); err != nil {
			d.log.Error("cannot resume the guest", zap.Error(err))
		}
	}()
	return nil
}

// Destroy ends the guest as pulling its plug would. A guest that is gone is no error.
func (d *Domain) Destroy() error {
	select {
	case <-d.gone:
		return nil
	default:
	}
	if err := d.dom.Destroy(); err != nil && !isNoDomain(err) {
		return fmt.Errorf("cannot end the guest %s: %w", d.cfg.Name, err)
	}
	return nil
}

// Close ends the guest if it runs and frees what belongs to it. The console's file stays.
func (d *Domain) Close() error {
	d.host.mu.Lock()
	ours := d.host.domains[d.uuid] == d
	d.host.mu.Unlock()
	if !ours {
		return nil // closed before
	}
	errs := []error{d.Destroy()}
	select {
	case <-d.gone:
	case <-time.After(drainTimeout):
	}
	select {
	case <-d.console.done:
	case <-time.After(drainTimeout):
	}
	if d.channel != nil {
		errs = append(errs, d.channel.Close())
	}
	d.forget()
	return errors.Join(append(errs, d.dom.Free())...)
}

// forget takes the domain out of the books.
func (d *Domain) forget() {
	d.host.mu.Lock()
	delete(d.host.domains, d.uuid)
	d.host.mu.Unlock()
	for _, f := range []string{d.recordFile(), d.host.path(d.cfg.Name + ".console"), d.host.path(d.cfg.Name + ".channel")} {
		_ = os.Remove(f)
	}
}
