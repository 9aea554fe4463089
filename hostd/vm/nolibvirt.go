//go:build !cgo

package vm

import (
	"context"
	"errors"
	"net"
	"time"

	"go.uber.org/zap"
)

var errNoLibvirt = errors.New("this fsward was built without libvirt, so it cannot start or " +
	"suspend guests: install gcc, pkg-config and libvirt-dev (make setup does), and build it with " +
	"make build")

// Supported reports why this binary cannot run guests.
func Supported() error { return errNoLibvirt }

// A Host stands for a connection to libvirtd, which a binary without libvirt cannot have.
type Host struct{}

// Connect fails: see Supported.
func Connect(context.Context, string, *zap.Logger) (*Host, error) { return nil, errNoLibvirt }

// Start fails: see Supported.
func (*Host) Start(context.Context, Config) (*Domain, error) { return nil, errNoLibvirt }

// Emulated returns false.
func (*Host) Emulated() bool { return false }

// URI returns "".
func (*Host) URI() string { return "" }

// Close does nothing.
func (*Host) Close() error { return nil }

// A Found stands for a domain that somebody else runs, which a binary without libvirt cannot find.
type Found struct{}

// Find fails: see Supported.
func Find(context.Context, string, string, *zap.Logger) (*Found, error) { return nil, errNoLibvirt }

// Suspend fails: see Supported.
func (*Found) Suspend() error { return errNoLibvirt }

// Resume fails: see Supported.
func (*Found) Resume() error { return errNoLibvirt }

// A Domain stands for a running guest. Nothing returns one in a binary without libvirt.
type Domain struct{}

// Console returns "".
func (*Domain) Console() string { return "" }

// Channel returns nil.
func (*Domain) Channel() *Channel { return nil }

// Agent returns nil.
func (*Domain) Agent() net.Conn { return nil }

// Gone returns nil.
func (*Domain) Gone() <-chan struct{} { return nil }

// Wait fails: see Supported.
func (*Domain) Wait(context.Context) (End, error) { return End{}, errNoLibvirt }

// Suspend fails: see Supported.
func (*Domain) Suspend() error { return errNoLibvirt }

// Resume fails: see Supported.
func (*Domain) Resume() error { return errNoLibvirt }

// SaveState fails: see Supported.
func (*Domain) SaveState(context.Context, string) error { return errNoLibvirt }

// LoadState fails: see Supported.
func (*Domain) LoadState(context.Context, string) error { return errNoLibvirt }

// DropState fails: see Supported.
func (*Domain) DropState(context.Context, string) error { return errNoLibvirt }

// Starved fails: see Supported.
func (*Domain) Starved() (hypervisor, processor time.Duration, err error) {
	return 0, 0, errNoLibvirt
}

// Close does nothing.
func (*Domain) Close() error { return nil }
