//go:build cgo

package attach

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"libvirt.org/go/libvirt"
)

// These tests use libvirt's test driver. It has no guests, but reads, checks and writes definitions
// as the driver of QEMU does.
const uri = "test:///default"

const definitionOfTest = `<domain type='test'>
  <name>vm</name>
  <title>A title</title>
  METADATA
  <memory unit='MiB'>256</memory>
  <vcpu>1</vcpu>
  <os><type arch='x86_64'>hvm</type><boot dev='hd'/></os>
  <devices>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2' cache='unsafe' io='threads' discard='unmap'/>
      <source file='DIR/a.qcow2'><seclabel model='dac' relabel='no'/></source>
      <target dev='vda' bus='virtio'/>
      <serial>root</serial>
      <address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/>
    </disk>
    <disk type='file' device='disk'>
      <driver name='qemu' type='raw' error_policy='stop'/>
      <source file='DIR/b &amp; c.img'/>
      <target dev='sda' bus='sata'/>
      <iotune><total_bytes_sec>1000000</total_bytes_sec></iotune>
    </disk>
    <disk type='file' device='cdrom'><target dev='sdb' bus='sata'/><readonly/></disk>
    MORE
  </devices>
</domain>`

const osinfo = `<metadata>
    <libosinfo:libosinfo xmlns:libosinfo="http://libosinfo.org/xmlns/libvirt/domain/1.0">
      <libosinfo:os id="http://debian.org/debian/12"/>
    </libosinfo:libosinfo>
  </metadata>`

// testDomain is a domain of libvirt's test driver, whose state lives as long as a
// connection.
type testDomain struct {
	*libvirt.Domain
	conn *libvirt.Connect
	dir  string
}

// defineTest defines the domain with pairs of texts replaced.
func defineTest(t *testing.T, pairs ...string) testDomain {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"qcow2", "a.qcow2"}, {"raw", "b & c.img"}} {
		if out, err := exec.Command("qemu-img", "create", "-q", "-f", args[0],
			filepath.Join(dir, args[1]), "16M").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	conn, err := libvirt.NewConnect(uri)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	text := strings.NewReplacer(pairs...).Replace(definitionOfTest)
	text = strings.NewReplacer("METADATA", osinfo, "MORE", "", "DIR", dir).Replace(text)
	dom, err := conn.DomainDefineXML(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = dom.Destroy() // if it runs
		if err := errors.Join(dom.UndefineFlags(libvirt.DOMAIN_UNDEFINE_SNAPSHOTS_METADATA|
			libvirt.DOMAIN_UNDEFINE_MANAGED_SAVE), dom.Free()); err != nil {
			t.Error(err)
		}
	})
	return testDomain{dom, conn, dir}
}

func (d testDomain) xml(t *testing.T) string {
	t.Helper()
	text, err := definition(d.Domain)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var options = Options{Socket: "/run/fsward/vm.sock", Reconnect: 5 * time.Minute}

// TestAttachAndBack attaches and detaches a domain, and compares its definition byte for byte. In
// between it checks what the guarded disks have.
func TestAttachAndBack(t *testing.T) {
	for name, pairs := range map[string][]string{
		"metadata":       nil,
		"no metadata":    {"METADATA", ""},
		"nothing before": {"METADATA", "", "<title>A title</title>", ""},
		"after":          {"METADATA", "", "<vcpu>1</vcpu>", "<vcpu>1</vcpu>" + osinfo},
	} {
		t.Run(name, func(t *testing.T) {
			d := defineTest(t, pairs...)
			before := d.xml(t)
			a, err := Attach(context.Background(), uri, "vm", nil, options)
			if err != nil {
				t.Fatal(err)
			}
			want := []Disk{
				{"vda", filepath.Join(d.dir, "a.qcow2"), "qcow2", []string{
					"cache='unsafe' drops the guest's flushes: it is cache='writeback' now"}},
				{"sda", filepath.Join(d.dir, "b & c.img"), "raw", []string{"error_policy='stop' keeps a " +
					"refusal from the guest: it is error_policy='enospace' now"}},
			}
			if diff := cmp.Diff(want, a.Disks); diff != "" {
				t.Error(diff)
			}
			attached := d.xml(t)
			for _, part := range []string{
				`<driver name='qemu' type='raw' cache='writeback' discard='unmap'/>`,
				`<source protocol='nbd' name='vda'>`,
				`<serial>root</serial>`,
				`<address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/>`,
				`<total_bytes_sec>1000000</total_bytes_sec>`,
				`<fsward:attached xmlns:fsward="urn:fsward:attach:1">`,
			} {
				if !strings.Contains(attached, part) {
					t.Errorf("%s is missing in\n%s", part, attached)
				}
			}
			if strings.Contains(attached, "<source file") {
				t.Errorf("a disk is not guarded:\n%s", attached)
			}
			// The guest waits for a guard that starts again by libvirt's own means, or by a proxy.
			socket, proxy := "/run/fsward/vm.sock", ""
			if !strings.Contains(attached, "<reconnect delay='300'/>") {
				socket, proxy = "/run/fsward/vm.proxy.sock", "/run/fsward/vm.proxy.sock"
			}
			if a.Proxy != proxy || strings.Count(attached, "socket='"+socket+"'") != len(want) {
				t.Errorf("proxy %q in\n%s", a.Proxy, attached)
			}
			if _, err := Attach(context.Background(), uri, "vm", nil, options); err == nil ||
				!strings.Contains(err.Error(), "attached already") {
				t.Errorf("attached twice: %v", err)
			}
			if _, err := Detach(context.Background(), uri, "vm"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, d.xml(t)); diff != "" {
				t.Errorf("the definition is not what it was:\n%s", diff)
			}
		})
	}
}

// TestDetachKeepsChanges checks that a change elsewhere in the definition survives detaching.
func TestDetachKeepsChanges(t *testing.T) {
	d := defineTest(t)
	before := d.xml(t)
	if _, err := Attach(context.Background(), uri, "vm", []string{"sda"}, options); err != nil {
		t.Fatal(err)
	}
	more := func(s string) string { return strings.Replace(s, ">1</vcpu>", ">2</vcpu>", 1) }
	if err := define(d.conn, more(d.xml(t))); err != nil {
		t.Fatal(err)
	}
	if _, err := Detach(context.Background(), uri, "vm"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(more(before), d.xml(t)); diff != "" {
		t.Error(diff)
	}
	if _, err := Detach(context.Background(), uri, "vm"); err == nil ||
		!strings.Contains(err.Error(), "not attached") {
		t.Errorf("detached twice: %v", err)
	}
}

// TestDetachWithoutDisk checks that an original disk is not lost if the guarded one was removed.
func TestDetachWithoutDisk(t *testing.T) {
	d := defineTest(t)
	if _, err := Attach(context.Background(), uri, "vm", []string{"sda"}, options); err != nil {
		t.Fatal(err)
	}
	now := strings.Replace(d.xml(t), "<target dev='sda'", "<target dev='sdc'", 1)
	if err := define(d.conn, now); err != nil {
		t.Fatal(err)
	}
	was := d.xml(t)
	_, err := Detach(context.Background(), uri, "vm")
	var refused *RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "b &amp; c.img") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(was, d.xml(t)); diff != "" {
		t.Error(diff)
	}
}

// A refusal is a domain that cannot be attached, and the reason.
type refusal struct {
	name, want string
	pairs      []string // of replacements in the definition
	prepare    func(d testDomain) error
}

// refusals returns the domains of TestRefused.
func refusals() []refusal {
	disk := func(attrs, rest string) []string {
		return []string{"MORE", "<disk " + attrs + "><target dev='vdz' bus='virtio'/>" + rest + "</disk>"}
	}
	file := `<source file='DIR/a.qcow2'/>`
	qcow2 := `<driver name='qemu' type='qcow2'/>`
	return []refusal{
		{"running", "it is running", nil, func(d testDomain) error { return d.Create() }},
		{"saved", "saved state", nil, func(d testDomain) error {
			return errors.Join(d.Create(), d.ManagedSave(0))
		}},
		{"snapshot", "1 snapshots", nil, func(d testDomain) error {
			s, err := d.CreateSnapshotXML("<domainsnapshot/>", 0)
			if err != nil {
				return err
			}
			return s.Free()
		}},
		{"no target", "it has no disk vdz, but vda, sda, sdb", nil, nil},
		{"network", "type network", disk("type='network' device='disk'",
			"<source protocol='nbd' name='x'><host name='h' port='1'/></source>"), nil},
		{"volume", "type volume", disk("type='volume' device='disk'",
			"<source pool='p' volume='v'/>"), nil},
		{"cdrom", "it is a cdrom", []string{"MORE", "<disk type='file' device='cdrom'>" + file +
			"<target dev='vdz' bus='sata'/></disk>"}, nil},
		{"read-only", "read-only", disk("type='file' device='disk'", qcow2+file+"<readonly/>"), nil},
		{"shared", "shared", disk("type='file' device='disk'", file+"<shareable/>"), nil},
		{"transient", "transient", disk("type='file' device='disk'", qcow2+file+"<transient/>"), nil},
		{"driver type", "its driver type is qed", disk("type='file' device='disk'",
			"<driver name='qemu' type='qed'/>"+file), nil},
		{"no image", "no such file", disk("type='file' device='disk'",
			qcow2+"<source file='DIR/none'/>"), nil},
		{"wrong format", "no header of a qcow2", disk("type='file' device='disk'",
			qcow2+"<source file='DIR/b &amp; c.img'/>"), nil},
		{"chain in the definition", "chain of snapshots", disk("type='file' device='disk'", qcow2+file+
			"<backingStore type='file'><format type='raw'/><source file='DIR/b &amp; c.img'/>"+
			"<backingStore/></backingStore>"), nil},
		{"chain in the image", "chain of snapshots", disk("type='file' device='disk'",
			qcow2+"<source file='DIR/top'/>"), func(d testDomain) error {
			return exec.Command("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", "a.qcow2",
				filepath.Join(d.dir, "top")).Run()
		}},
	}
}

// TestRefused checks that what cannot be attached is refused with the reason, and left alone.
func TestRefused(t *testing.T) {
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			d := defineTest(t, c.pairs...)
			if c.prepare != nil {
				if err := c.prepare(d); err != nil {
					t.Fatal(err)
				}
			}
			before := d.xml(t)
			_, err := Attach(context.Background(), uri, "vm", []string{"vdz"}, options)
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if diff := cmp.Diff(before, d.xml(t)); diff != "" {
				t.Errorf("the definition was changed:\n%s", diff)
			}
		})
	}
	if _, err := Attach(context.Background(), uri, "nobody", nil, options); err == nil ||
		!strings.Contains(err.Error(), `no domain "nobody"`) {
		t.Errorf("%v", err)
	}
}

func TestAppArmorHint(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules")
	got := strings.Join(apparmorHint(rules, "/run/fsward/vm.sock"), "")
	if !strings.Contains(got, "'  /run/fsward/*.sock rw,' >> "+rules) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(rules, []byte("  /run/fsward/*.sock rw,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := apparmorHint(rules, "/run/fsward/vm.sock"); got != nil {
		t.Errorf("%q", got)
	}
}

// TestConfinesSockets checks that the rule is asked for only where AppArmor looks at sockets.
func TestConfinesSockets(t *testing.T) {
	for name, c := range map[string]struct {
		enabled, feature string
		want             bool
	}{
		"Debian 12": {"Y\n", "network_v8/af_mask", false},
		"Ubuntu":    {"Y\n", "network/af_unix", true},
		"off":       {"N\n", "network_v9/af_unix", false},
	} {
		t.Run(name, func(t *testing.T) {
			enabled := filepath.Join(t.TempDir(), "enabled")
			feature := filepath.Join(t.TempDir(), c.feature)
			if err := errors.Join(os.WriteFile(enabled, []byte(c.enabled), 0o600),
				os.MkdirAll(filepath.Dir(feature), 0o700),
				os.WriteFile(feature, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			sockets := filepath.Join(filepath.Dir(filepath.Dir(feature)), "network*", "af_unix")
			if got := confinesSockets(enabled, sockets); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	if confinesSockets(filepath.Join(t.TempDir(), "missing"), "") {
		t.Error("a kernel without AppArmor confines sockets")
	}
}
