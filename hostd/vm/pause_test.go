//go:build cgo

package vm

import (
	"testing"

	"go.uber.org/zap"
	"libvirt.org/go/libvirt"
)

// TestSuspendFails checks that a guest that could not be suspended does not count as suspended.
// Further suspensions fail as long as the cause lasts, and one that works then counts.
func TestSuspendFails(t *testing.T) {
	conn, err := libvirt.NewConnect("test:///default") // libvirt's mock driver, in this process
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Close() }()
	dom, err := conn.LookupDomainByName("test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dom.Free() }()
	if err := dom.Destroy(); err != nil { // a guest that is shut off cannot be suspended
		t.Fatal(err)
	}
	p := pauser{dom: dom, name: "test", log: zap.NewNop()}
	for range 2 {
		if err := p.suspend(); err == nil {
			t.Fatal("no error, although the guest is shut off")
		}
	}
	if err := dom.Create(); err != nil {
		t.Fatal(err)
	}
	if err := p.suspend(); err != nil {
		t.Fatal(err)
	}
	if state, _, err := dom.GetState(); err != nil || state != libvirt.DOMAIN_PAUSED {
		t.Errorf("state %d, %v", state, err)
	}
}
