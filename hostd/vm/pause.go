//go:build cgo

package vm

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
)

// suspendPatience bounds how long a suspension waits for the processors to stop.
const suspendPatience = 5 * time.Second

// pauser suspends and resumes a domain. QEMU stops the processors at once, but answers only when
// every disk request in flight is done. One of these requests may be the very write that caused the
// suspension. So the state that libvirt reports counts, and a goroutine waits for the answer.
type pauser struct {
	dom  *libvirt.Domain
	name string
	log  *zap.Logger

	mu sync.Mutex
	// of the latest suspension: closed when libvirt has answered; nil after a resume
	answered chan struct{}
}

// suspend returns when the processors have stopped.
func (p *pauser) suspend() error {
	answered := make(chan struct{})
	p.mu.Lock()
	if p.answered != nil {
		p.mu.Unlock()
		return nil
	}
	p.answered = answered
	p.mu.Unlock()
	var err error
	go func() {
		defer close(answered)
		if err = p.dom.Suspend(); err != nil {
			p.log.Error("cannot suspend the guest", zap.String("guest", p.name), zap.Error(err))
			p.forget(answered)
		}
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	patience := time.After(suspendPatience)
	for {
		select {
		case <-answered:
			return err
		case <-tick.C:
			if state, _, e := p.dom.GetState(); e == nil && state == libvirt.DOMAIN_PAUSED {
				return nil
			}
		case <-patience:
			return fmt.Errorf("the guest %s has not stopped within %v", p.name, suspendPatience)
		}
	}
}

// forget makes the next suspend try again: a suspension has failed.
func (p *pauser) forget(answered chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answered == answered {
		p.answered = nil
	}
}

// resume resumes the domain, at once or when libvirt has answered the suspension. Without a
// suspension it does nothing.
func (p *pauser) resume() error {
	p.mu.Lock()
	answered := p.answered
	p.answered = nil
	p.mu.Unlock()
	if answered == nil {
		return nil
	}
	select {
	case <-answered:
		return p.dom.Resume()
	default:
	}
	go func() {
		<-answered
		if err := p.dom.Resume(); err != nil {
			p.log.Error("cannot resume the guest", zap.String("guest", p.name), zap.Error(err))
		}
	}()
	return nil
}
