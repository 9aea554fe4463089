//go:build cgo

package attach

import (
	"context"
	"errors"
	"fmt"

	"libvirt.org/go/libvirt"

	"fsward/blocktap/qemudisk"
)

// Attach puts a guard before disks of a domain that is shut off: those with the targets, or all
// that its guest may write if there are none. It changes the persistent definition and keeps the
// original disks in its metadata. What it cannot do is a *RefusedError. It is sure that Detach puts
// the definition back, or it changes nothing.
func Attach(ctx context.Context, uri, name string, targets []string, opt Options) (a Attached,
	err error) {
	err = withDomain(ctx, uri, name, func(conn *libvirt.Connect, dom *libvirt.Domain) error {
		if err := idle(dom, name); err != nil {
			return err
		}
		before, err := definition(dom)
		if err != nil {
			return err
		}
		now, disks, err := redefine(conn, dom, before, targets, opt)
		if err != nil {
			return err
		}
		if opt.Reconnect > 0 && !keepsReconnect(now) {
			a.Proxy = opt.ProxySocket()
			opt.Socket, opt.Reconnect = a.Proxy, 0
			if _, disks, err = redefine(conn, dom, before, targets, opt); err != nil {
				return err
			}
		}
		a.Disks, a.Notes = disks, hints(opt)
		return nil
	})
	return a, err
}

// redefine gives a domain with the definition before the guarded disks, and returns its definition
// as libvirt has taken it. After an error the definition is what it was.
func redefine(conn *libvirt.Connect, dom *libvirt.Domain, before string, targets []string,
	opt Options) (now string, disks []Disk, err error) {
	after, disks, err := rewrite(before, targets, opt)
	if err != nil {
		return "", nil, err
	}
	name, err := dom.GetName()
	if err != nil {
		return "", nil, err
	}
	for _, d := range disks {
		if err := qemudisk.CheckAlone(d.Source, d.Format); err != nil {
			return "", nil, &RefusedError{name, fmt.Sprintf("disk %s: %v", d.Target, err)}
		}
	}
	if err := define(conn, after); err != nil {
		return "", nil, err
	}
	if now, err = reversible(dom, before); err != nil {
		err = errors.Join(&RefusedError{name, err.Error()}, define(conn, before))
	}
	return now, disks, err
}

// reversible returns the definition of a domain as libvirt has taken it, and an error unless it,
// put back, is what it was before.
func reversible(dom *libvirt.Domain, before string) (now string, err error) {
	if now, err = definition(dom); err != nil {
		return "", err
	}
	back, _, err := restore(now)
	if err != nil {
		return "", err
	}
	was, err := parse(before)
	if err != nil {
		return "", err
	}
	if was.String() != back {
		return "", errors.New("its definition could not be restored exactly")
	}
	return now, nil
}

// Detach puts the original disks of an attached domain that is shut off back into its definition,
// and returns them.
func Detach(ctx context.Context, uri, name string) ([]Disk, error) {
	var disks []Disk
	err := withDomain(ctx, uri, name, func(conn *libvirt.Connect, dom *libvirt.Domain) error {
		if err := idle(dom, name); err != nil {
			return err
		}
		now, err := definition(dom)
		if err != nil {
			return err
		}
		var before string
		if before, disks, err = restore(now); err != nil {
			return err
		}
		return define(conn, before)
	})
	return disks, err
}

// withDomain calls f with a connection to libvirt and a domain.
func withDomain(_ context.Context, uri, name string,
	f func(*libvirt.Connect, *libvirt.Domain) error) error {
	conn, err := libvirt.NewConnect(uri)
	if err != nil {
		return fmt.Errorf("cannot connect to libvirt at %s (is libvirtd running?): %w", uri, err)
	}
	defer conn.Close()
	dom, err := conn.LookupDomainByName(name)
	if err != nil {
		return fmt.Errorf("no domain %q at %s: %w", name, uri, err)
	}
	defer func() { _ = dom.Free() }()
	return f(conn, dom)
}

// idle returns an error unless a domain is shut off, and nothing could bring its disks back behind
// the guard's back.
func idle(dom *libvirt.Domain, name string) error {
	refuse := func(format string, args ...any) error {
		return &RefusedError{name, fmt.Sprintf(format, args...)}
	}
	active, err := dom.IsActive()
	if err != nil {
		return err
	}
	persistent, err := dom.IsPersistent()
	if err != nil {
		return err
	}
	saved, err := dom.HasManagedSaveImage(0)
	if err != nil {
		return err
	}
	snapshots, err := dom.SnapshotNum(0)
	if err != nil {
		return err
	}
	checkpoints, err := dom.ListAllCheckpoints(0)
	if err != nil {
		return err
	}
	for i := range checkpoints {
		_ = checkpoints[i].Free()
	}
	switch {
	case active:
		return refuse("it is running: shut it down first (virsh shutdown %s)", name)
	case !persistent:
		return refuse("it is transient: it has no persistent definition")
	case saved:
		return refuse("it has a saved state, which has its disks as they are: "+
			"start and shut it down, or run virsh managedsave-remove %s", name)
	case snapshots > 0:
		return refuse("it has %d snapshots, each with its disks as they are: "+
			"see virsh snapshot-list %s and virsh snapshot-delete --metadata", snapshots, name)
	case len(checkpoints) > 0:
		return refuse("it has %d checkpoints for backups, which need QEMU's own image: "+
			"see virsh checkpoint-list %s", len(checkpoints), name)
	}
	return nil
}

// definition returns the persistent definition of a domain, with its passwords.
func definition(dom *libvirt.Domain) (string, error) {
	text, err := dom.GetXMLDesc(libvirt.DOMAIN_XML_INACTIVE | libvirt.DOMAIN_XML_SECURE)
	if err != nil {
		return "", fmt.Errorf("cannot read the definition: %w", err)
	}
	return text, nil
}

func define(conn *libvirt.Connect, definition string) error {
	dom, err := conn.DomainDefineXML(definition)
	if err != nil {
		return fmt.Errorf("libvirt does not take the definition: %w", err)
	}
	return dom.Free()
}
