package host

import (
	"context"

	"fsward/explore/guest"
	"fsward/hostd/vm"
)

// A Hypervisor boots the explorer's guests through libvirt. It is a guest.Hypervisor.
type Hypervisor struct{ Host *vm.Host }

// Boot starts a domain with the agent's port.
func (h Hypervisor) Boot(ctx context.Context, m guest.Machine) (guest.Domain, error) {
	cfg := vm.Config{Name: m.Name, Kernel: m.Kernel, Initramfs: m.Initramfs, Cmdline: m.Cmdline,
		MemoryMiB: m.MemoryMiB,
		Console:   m.Console, OnLine: m.OnLine, Agent: true}
	for _, e := range m.Exports {
		cfg.Disks = append(cfg.Disks, vm.Disk{NBDSocket: m.NBDSocket, Export: e, Serial: e})
	}
	d, err := h.Host.Start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return explored{d}, nil
}

// explored is a guest.Domain.
type explored struct{ *vm.Domain }

// End says how the domain ended.
func (d explored) End(ctx context.Context) string {
	end, err := d.Wait(ctx)
	if err != nil {
		return err.Error()
	}
	return end.String()
}
