//go:build cgo

package vm

import (
	"sync"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
)

// startEvents registers libvirt's event loop and runs it for the life of the process. libvirt has
// one loop for the whole process, which must exist before the first connection. Hence the global.
var startEvents = sync.OnceValue(func() error {
	if err := libvirt.EventRegisterDefaultImpl(); err != nil {
		return err
	}
	go func() {
		for libvirt.EventRunDefaultImpl() == nil {
		}
	}()
	return nil
})

// watch logs every lifecycle event of the connection and gives it to its domain.
func (h *Host) watch() error {
	_, err := h.conn.DomainEventLifecycleRegister(nil,
		func(_ *libvirt.Connect, dom *libvirt.Domain, ev *libvirt.DomainEventLifecycle) {
			uuid, err := dom.GetUUIDString()
			if err != nil {
				return
			}
			h.mu.Lock()
			d := h.domains[uuid]
			h.mu.Unlock()
			if d == nil {
				return // somebody else's domain
			}
			h.log.Info("guest "+d.Name(), zap.Stringer("event", ev))
			switch {
			case ev.Event == libvirt.DOMAIN_EVENT_STOPPED:
				d.life.end(End{Cause: stopCauses[libvirt.DomainEventStoppedDetailType(ev.Detail)]})
			case ev.Event == libvirt.DOMAIN_EVENT_SUSPENDED &&
				ev.Detail == int(libvirt.DOMAIN_EVENT_SUSPENDED_IOERROR): // see diskXML
				h.log.Error("the guest waits because the host's disk is full: make room and resume it",
					zap.String("command", "virsh --connect '"+h.uri+"' resume "+d.Name()))
			}
		})
	if err != nil {
		return err
	}
	return h.conn.RegisterCloseCallback(func(*libvirt.Connect, libvirt.ConnectCloseReason) {
		h.mu.Lock()
		domains := h.running()
		closing := h.closing
		h.mu.Unlock()
		if !closing {
			h.log.Error("lost the connection to libvirtd", zap.String("uri", h.uri))
		}
		for _, d := range domains {
			d.life.end(End{Cause: CauseLost})
		}
	})
}

// running returns the domains of this connection. The caller holds h.mu.
func (h *Host) running() []*Domain {
	var out []*Domain
	for _, d := range h.domains {
		out = append(out, d)
	}
	return out
}

var stopCauses = map[libvirt.DomainEventStoppedDetailType]Cause{
	libvirt.DOMAIN_EVENT_STOPPED_SHUTDOWN:  CauseShutdown,
	libvirt.DOMAIN_EVENT_STOPPED_DESTROYED: CauseDestroyed,
	libvirt.DOMAIN_EVENT_STOPPED_CRASHED:   CauseCrashed,
	libvirt.DOMAIN_EVENT_STOPPED_FAILED:    CauseFailed,
}
