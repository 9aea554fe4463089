package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"

	"fsward/blocktap/fuse"
	"fsward/blocktap/nbd"
)

// The transports of Serve.
const (
	TransportNBD  = "nbd"
	TransportFUSE = "fuse"
)

// CheckTransport returns an error that lists the choices if name is not one of them.
func CheckTransport(name string) error {
	if name != TransportNBD && name != TransportFUSE {
		return fmt.Errorf("--transport %q is not one of %s, %s", name, TransportNBD, TransportFUSE)
	}
	return nil
}

// Address parses a --listen address: unix:PATH, a plain path, or systemd:NAME.
func Address(s string) (string, error) {
	path := strings.TrimPrefix(s, "unix:")
	if path == "" || strings.Contains(path, "://") || strings.HasPrefix(path, "tcp:") {
		return "", fmt.Errorf("--listen %q: expected unix:PATH or systemd:NAME", s)
	}
	return path, nil
}

// Serve serves the devices at an address until ctx ends, and then finishes the requests in flight.
func (d *Daemon) Serve(ctx context.Context, transport, path string) error {
	if err := CheckTransport(transport); err != nil {
		return err
	}
	defer d.reloadOnHangup(ctx)()
	if transport == TransportFUSE {
		return d.serveFUSE(ctx, path)
	}
	return d.serveNBD(ctx, path)
}

func (d *Daemon) serveNBD(ctx context.Context, path string) error {
	l, err := Listen(path, d.socket)
	if err != nil {
		return err
	}
	var exports []nbd.Export
	for _, name := range d.Names() {
		exports = append(exports, nbd.Export{Name: name, Device: d.Device(name),
			Description: "guarded by fsward"})
	}
	if len(exports) == 1 {
		// A client that names no export gets the only disk.
		only := exports[0]
		only.Name = ""
		exports = append(exports, only)
	}
	server := nbd.NewServer(exports, d.log)
	for _, name := range d.Names() {
		d.log.Info("serving", zap.String("disk", name),
			zap.String("uri", fmt.Sprintf("nbd+unix:///%s?socket=%s", name, path)))
	}
	d.ready()
	return server.Serve(ctx, l)
}

// serveFUSE mounts a directory for each disk, with the block device as the file "disk" in it. A
// single disk gets the directory itself, each of several gets DIR/NAME.
func (d *Daemon) serveFUSE(ctx context.Context, dir string) error {
	if err := fuse.RemoveStale(dir, d.log); err != nil {
		return err
	}
	var mounts []*fuse.Server
	var errs []error
	names := d.Names()
	for _, name := range names {
		at := dir
		if len(names) > 1 {
			at = filepath.Join(dir, name)
		}
		m, err := d.mountFUSE(at, name)
		if err != nil {
			errs = append(errs, err)
			break
		}
		mounts = append(mounts, m)
		d.log.Info("serving", zap.String("disk", name), zap.String("file", filepath.Join(at, "disk")))
	}
	if len(errs) == 0 {
		d.ready()
		<-ctx.Done()
	}
	for _, m := range mounts {
		errs = append(errs, m.Unmount())
	}
	return errors.Join(errs...)
}

// mountFUSE mounts the directory of a disk, where a server that was killed may have left a mount.
func (d *Daemon) mountFUSE(dir, disk string) (*fuse.Server, error) {
	if err := fuse.RemoveStale(dir, d.log); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return fuse.Mount(dir, d.Device(disk), d.log)
}

// notifyReady tells systemd, if it has started the daemon with Type=notify, that its dependents may
// start now.
func notifyReady(log *zap.Logger) {
	if _, err := systemd.SdNotify(false, systemd.SdNotifyReady); err != nil {
		log.Warn("cannot tell systemd that the disks are served", zap.Error(err))
	}
}

// ServeControl serves the control socket until ctx ends.
func (d *Daemon) ServeControl(ctx context.Context, path string) error {
	l, err := listenControl(path)
	if err != nil {
		return err
	}
	return serveControl(ctx, l, d)
}

func listenControl(path string) (net.Listener, error) {
	l, err := Listen(path, nbd.SocketOptions{})
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

func serveControl(ctx context.Context, l net.Listener, d controlled) error {
	server := &http.Server{Handler: controlHandler(d), ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
