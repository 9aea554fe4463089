package vm

import (
	"fmt"
	"strings"

	"libvirt.org/go/libvirtxml"

	"fsward/hostd/daemon/fsynccheck"
)

// place is what the definition of a domain needs besides its Config.
type place struct {
	uuid          string
	accel         Accel
	consoleSocket string
	channelSocket string // "" for no channel
	agentSocket   string // "" for no agent
	nvram         string // file for the variables of EFI
	labels        []libvirtxml.DomainSecLabel
}

// domainXML returns the definition of a domain.
func domainXML(c *Config, p *place) (string, error) {
	port := uint(0)
	d := libvirtxml.Domain{
		Type:   "qemu",
		Name:   c.Name,
		UUID:   p.uuid,
		Memory: &libvirtxml.DomainMemory{Value: c.MemoryMiB, Unit: "MiB"},
		VCPU:   &libvirtxml.DomainVCPU{Placement: "static", Value: c.VCPUs},
		OS:     bootXML(c, p),
		Features: &libvirtxml.DomainFeatureList{ACPI: &libvirtxml.DomainFeature{},
			APIC: &libvirtxml.DomainFeatureAPIC{}},
		// Under TCG the most that QEMU can emulate: without RDRAND the guest waits some seconds for
		// random numbers whenever mkfs makes a UUID.
		CPU:        &libvirtxml.DomainCPU{Mode: "maximum", Check: "none"},
		OnPoweroff: "destroy",
		OnReboot:   "destroy", // panic=-1 reboots: a guest that panics ends at once
		OnCrash:    "destroy",
		Devices: &libvirtxml.DomainDeviceList{
			Controllers: []libvirtxml.DomainController{{Type: "usb", Model: "none"}},
			MemBalloon:  &libvirtxml.DomainMemBalloon{Model: "none"},
			Serials: []libvirtxml.DomainSerial{{
				Source: dial(p.consoleSocket),
				Target: &libvirtxml.DomainSerialTarget{Port: &port},
			}},
		},
		SecLabel: p.labels,
	}
	if c.Kernel == "" {
		d.OnReboot = "restart"
	}
	if c.Network {
		d.Devices.Interfaces = []libvirtxml.DomainInterface{{
			Source: &libvirtxml.DomainInterfaceSource{User: &libvirtxml.DomainInterfaceSourceUser{}},
			Model:  &libvirtxml.DomainInterfaceModel{Type: "virtio"},
		}}
	}
	if p.accel == AccelKVM {
		d.Type = "kvm"
		d.CPU = &libvirtxml.DomainCPU{Mode: "host-passthrough", Check: "none"}
	}
	for i, disk := range c.Disks {
		d.Devices.Disks = append(d.Devices.Disks, diskXML(i, disk))
	}
	for _, port := range []struct{ socket, name string }{{p.channelSocket, channelName},
		{p.agentSocket, agentName}, {c.Calls, fsynccheck.Port}} {
		if port.socket != "" {
			virtIO := &libvirtxml.DomainChannelTargetVirtIO{Name: port.name}
			d.Devices.Channels = append(d.Devices.Channels, libvirtxml.DomainChannel{
				Source: dial(port.socket),
				Target: &libvirtxml.DomainChannelTarget{VirtIO: virtIO},
			})
		}
	}
	text, err := d.Marshal()
	if err != nil {
		return "", fmt.Errorf("cannot write the definition of domain %s: %w", c.Name, err)
	}
	return text, nil
}

// The firmware of Debian's package ovmf, and the template of its variables.
const (
	efiCode      = "/usr/share/OVMF/OVMF_CODE_4M.fd"
	efiVariables = "/usr/share/OVMF/OVMF_VARS_4M.fd"
)

// bootXML says what a domain boots: a kernel, or its first disk.
func bootXML(c *Config, p *place) *libvirtxml.DomainOS {
	os := &libvirtxml.DomainOS{
		Type: &libvirtxml.DomainOSType{Arch: "x86_64", Machine: "q35", Type: "hvm"},
	}
	if c.Kernel == "" {
		os.BootDevices = []libvirtxml.DomainBootDevice{{Dev: "hd"}}
		if c.EFI {
			os.Loader = &libvirtxml.DomainLoader{Path: efiCode, Readonly: "yes", Type: "pflash"}
			os.NVRam = &libvirtxml.DomainNVRam{NVRam: p.nvram, Template: efiVariables}
		}
		return os
	}
	os.Kernel, os.Initrd = c.Kernel, c.Initramfs
	// no_timer_check: Linux tests the timer by counting instructions, and gives up ("IO-APIC + timer
	// doesn't work") if a busy host delays QEMU meanwhile.
	os.Cmdline = strings.TrimSpace("console=ttyS0 panic=-1 oops=panic no_timer_check " + c.Cmdline)
	return os
}

// dial returns a character device for which QEMU connects to our socket. So nothing of the first
// output is lost, and we decide what is kept.
func dial(socket string) *libvirtxml.DomainChardevSource {
	return &libvirtxml.DomainChardevSource{UNIX: &libvirtxml.DomainChardevSourceUNIX{Mode: "connect",
		Path: socket}}
}

func diskXML(i int, disk Disk) libvirtxml.DomainDisk {
	return libvirtxml.DomainDisk{
		Device: "disk",
		Driver: &libvirtxml.DomainDiskDriver{
			Name: "qemu",
			Type: "raw",
			// QEMU keeps nothing, and the guest sees a write cache: its flushes arrive as NBD flushes.
			Cache: "none",
			// A refusal reaches the guest as an error. If the host's disk is full, QEMU suspends the guest
			// instead, and repeats the write when it is resumed.
			ErrorPolicy:  "enospace",
			RErrorPolicy: "report",
			Discard:      "unmap",
		},
		Source: &libvirtxml.DomainDiskSource{Network: &libvirtxml.DomainDiskSourceNetwork{
			Protocol: "nbd",
			Name:     disk.Export,
			Hosts:    []libvirtxml.DomainDiskSourceHost{{Transport: "unix", Socket: disk.NBDSocket}},
		}},
		Target: &libvirtxml.DomainDiskTarget{Dev: "vd" + string(rune('a'+i)), Bus: "virtio"},
		Serial: disk.Serial,
	}
}
