//go:build cgo

package vm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"
)

// startTimeout bounds how long QEMU may take to connect to our sockets after libvirt has started
// it.
const startTimeout = 30 * time.Second

// nameTimeout bounds how long libvirt may take to release the name of a domain that has ended.
const nameTimeout = 10 * time.Second

// A Domain is a running guest. It is safe for concurrent use.
type Domain struct {
	host    *Host
	dom     *libvirt.Domain
	cfg     Config
	uuid    string
	console *console
	channel *Channel
	agent   net.Conn
	qemu    int // process id

	states stateStore
	pauser pauser
	life   lifetime
	log    *zap.Logger
}

// Start starts a transient domain: it is gone from libvirt when it ends, and it ends when this
// process does. A domain of the same name that an earlier run left in this run directory is ended
// first.
func (h *Host) Start(ctx context.Context, cfg Config) (*Domain, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if err := cfg.bootable(); err != nil {
		return nil, err
	}
	accel, err := h.accel(ctx, cfg.Accel, cfg.Kernel)
	if err != nil {
		return nil, err
	}
	if err := h.endNamesake(cfg.Name); err != nil {
		return nil, err
	}
	d := &Domain{
		host: h,
		cfg:  cfg,
		uuid: newUUID(),
		life: lifetime{gone: make(chan struct{})},
		log:  h.log.With(zap.String("guest", cfg.Name)),
	}
	if err := d.start(ctx, accel); err != nil {
		return nil, err
	}
	d.log.Info("guest started", zap.String("on", string(accel)), zap.String("console", cfg.Console))
	return d, nil
}

func (d *Domain) start(ctx context.Context, accel Accel) error {
	p := place{uuid: d.uuid, accel: accel, consoleSocket: d.host.path(d.cfg.Name + ".console"),
		nvram: d.host.path(d.cfg.Name + ".nvram")}
	var err error
	if p.labels, err = d.host.labels(); err != nil {
		return err
	}
	serial, err := listenUnix(p.consoleSocket)
	if err != nil {
		return fmt.Errorf("cannot listen for the console: %w", err)
	}
	defer serial.Close()
	var port, agent *net.UnixListener
	if d.cfg.Channel {
		p.channelSocket = d.host.path(d.cfg.Name + ".channel")
		if port, err = listenUnix(p.channelSocket); err != nil {
			return fmt.Errorf("cannot listen for the channel: %w", err)
		}
		defer port.Close()
	}
	if d.cfg.Agent {
		p.agentSocket = d.host.path(d.cfg.Name + ".agent")
		if agent, err = listenUnix(p.agentSocket); err != nil {
			return fmt.Errorf("cannot listen for the agent: %w", err)
		}
		defer agent.Close()
	}
	definition, err := domainXML(&d.cfg, &p)
	if err != nil {
		return err
	}
	if d.console, err = newConsole(d.cfg.Console, d.cfg.OnLine); err != nil {
		return err
	}
	if err := os.WriteFile(d.host.recordFile(d.cfg.Name), []byte(d.uuid+"\n"), 0o600); err != nil {
		return errors.Join(err, d.console.file.Close())
	}
	d.host.mu.Lock()
	d.host.domains[d.uuid] = d
	d.host.mu.Unlock()
	if err := d.launch(ctx, definition, serial, port, agent); err != nil {
		d.host.forget(d)
		return errors.Join(fmt.Errorf("cannot start the guest %s: %w; %s", d.cfg.Name, err, d.where()),
			d.console.file.Close())
	}
	return nil
}

// launch makes libvirt start QEMU, and accepts QEMU's connections.
func (d *Domain) launch(ctx context.Context, definition string, serial, port,
	agent *net.UnixListener) error {
	dom, err := d.host.create(ctx, definition)
	if err != nil {
		return err
	}
	d.dom = dom
	d.pauser = pauser{dom: dom, name: d.cfg.Name, log: d.host.log}
	d.states = stateStore{monitor: monitor{dom}, guest: d.cfg.Name, path: d.host.stateFile(d.cfg.Name)}
	destroy := func(err error) error {
		if e := dom.Destroy(); e != nil && !isNoDomain(e) {
			err = errors.Join(err, e)
		}
		return errors.Join(err, dom.Free())
	}
	timeout := startTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	conn, err := acceptOne(serial, timeout)
	if err != nil {
		return destroy(fmt.Errorf("QEMU did not connect its console: %w", err))
	}
	fail := func(err error) error {
		return errors.Join(destroy(err), conn.Close())
	}
	if d.qemu, err = peerOf(conn); err != nil {
		return fail(err)
	}
	if port != nil {
		channel, err := acceptOne(port, timeout)
		if err != nil {
			return fail(fmt.Errorf("QEMU did not connect its channel: %w", err))
		}
		d.channel = newChannel(channel, d.where)
	}
	if agent != nil {
		if d.agent, err = acceptOne(agent, timeout); err != nil {
			err = fmt.Errorf("QEMU did not connect the agent's port: %w", err)
			if d.channel != nil {
				err = errors.Join(err, d.channel.Close())
			}
			return fail(err)
		}
	}
	go d.console.run(conn)
	return nil
}

// create makes libvirt start QEMU. libvirt reports that a domain has stopped before it releases its
// name (qemuProcessStop, virDomainObjListRemove). Until then it refuses the next domain of that
// name.
func (h *Host) create(ctx context.Context, definition string) (*libvirt.Domain, error) {
	for begin := time.Now(); ; {
		dom, err := h.conn.DomainCreateXML(definition, libvirt.DOMAIN_START_AUTODESTROY)
		if !isNameTaken(err) || time.Since(begin) > nameTimeout {
			return dom, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// path returns the path of a file in the run directory.
func (h *Host) path(name string) string { return filepath.Join(h.dir, name) }

// recordFile returns the file with the UUID of the guest with a name, stateFile the file with its
// saved states.
func (h *Host) recordFile(guest string) string { return h.path(guest + ".uuid") }
func (h *Host) stateFile(guest string) string  { return h.path(guest + ".state") }

// forget removes a domain from the host's list, and its files.
func (h *Host) forget(d *Domain) {
	h.mu.Lock()
	delete(h.domains, d.uuid)
	h.mu.Unlock()
	name := d.cfg.Name
	for _, f := range []string{h.recordFile(name), h.path(name + ".console"),
		h.path(name + ".channel"), h.path(name + ".agent"), h.stateFile(name),
		h.path(name + ".nvram")} {
		_ = os.Remove(f)
	}
}

// endNamesake ends a domain of this name if the record in the run directory says that it is ours.
func (h *Host) endNamesake(name string) error {
	dom, err := h.conn.LookupDomainByName(name)
	if isNoDomain(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look for a domain named %s: %w", name, err)
	}
	defer func() { _ = dom.Free() }()
	uuid, err := dom.GetUUIDString()
	if err != nil {
		return err
	}
	h.mu.Lock()
	running := h.domains[uuid] != nil
	h.mu.Unlock()
	record, _ := os.ReadFile(h.recordFile(name))
	if running || strings.TrimSpace(string(record)) != uuid {
		return fmt.Errorf("a domain named %s exists already: give this one another name, "+
			"or end that one with `virsh -c %s destroy %s`", name, h.uri, name)
	}
	h.log.Info("ending a guest that an earlier run left", zap.String("guest", name))
	if err := dom.Destroy(); err != nil && !isNoDomain(err) {
		return fmt.Errorf("cannot end the guest %s that an earlier run left: %w", name, err)
	}
	return nil
}

// labels makes a system's libvirtd run QEMU as our own user, who can reach the sockets, and without
// the confinement that would prevent that.
func (h *Host) labels() ([]libvirtxml.DomainSecLabel, error) {
	if h.private != nil {
		return nil, nil
	}
	text, err := h.conn.GetCapabilities()
	if err != nil {
		return nil, fmt.Errorf("cannot read libvirt's capabilities: %w", err)
	}
	var caps libvirtxml.Caps
	if err := caps.Unmarshal(text); err != nil {
		return nil, fmt.Errorf("cannot read libvirt's capabilities: %w", err)
	}
	var out []libvirtxml.DomainSecLabel
	for _, m := range caps.Host.SecModel {
		switch m.Name {
		case "dac":
			out = append(out, libvirtxml.DomainSecLabel{Type: "static", Model: "dac", Relabel: "no",
				Label: fmt.Sprintf("+%d:+%d", os.Getuid(), os.Getgid())})
		case "apparmor", "selinux":
			out = append(out, libvirtxml.DomainSecLabel{Type: "none", Model: m.Name})
		}
	}
	return out, nil
}

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Name returns the domain's name.
func (d *Domain) Name() string { return d.cfg.Name }

// Console returns the path of the console's file.
func (d *Domain) Console() string { return d.cfg.Console }

// Channel returns the channel to the guest; nil unless Config.Channel.
func (d *Domain) Channel() *Channel { return d.channel }

// Agent returns the connection to fsagent's port, which the caller closes; nil unless Config.Agent.
func (d *Domain) Agent() net.Conn { return d.agent }

// where says where to look for the cause of an error.
func (d *Domain) where() string {
	log := "/var/log/libvirt/qemu/" + d.cfg.Name + ".log"
	if p := d.host.private; p != nil {
		log = p.guestLog(d.cfg.Name)
	}
	text := fmt.Sprintf("look at the guest's console in %s and at QEMU's log in %s", d.cfg.Console,
		log)
	if last, _ := d.console.state(); last != "" {
		text += fmt.Sprintf(" (the console's last line: %q)", last)
	}
	return text
}
