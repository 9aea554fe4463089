// Package attach puts a guard before the disks of a libvirt domain that exists already. It rewrites
// the domain's persistent definition, and puts it back. Start reading at Attach.
package attach

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/beevik/etree"

	"fsward/blocktap/qemudisk"
)

// The element of the domain's metadata in which the original disks are kept, as text, so that
// libvirt cannot change them.
const (
	prefix    = "fsward"
	namespace = "urn:fsward:attach:1"
	rootTag   = "attached"
	diskTag   = "disk"
)

// A Disk is a disk of a domain that is put behind a guard.
type Disk struct {
	Target string // its name in the domain, such as vda; also the name of the guarded disk
	Source string // path of the image or block device
	Format qemudisk.Format
	Notes  []string // what the guarded disk has that differs from the original, as sentences
}

// Options say how a domain reaches its guard.
type Options struct {
	Socket    string        // path of the guard's socket
	Reconnect time.Duration // how long QEMU waits for a guard that starts again; whole seconds
}

// An Attached is what Attach has done.
type Attached struct {
	Disks []Disk
	// Proxy is the path of the socket that QEMU connects to if it is that of a proxy (hostd/proxy) and
	// not the guard's: this libvirt cannot let QEMU wait for a guard that starts again. It is ""
	// otherwise.
	Proxy string
	Notes []string // what is left to do on this host
}

// ProxySocket returns the path of the socket of a proxy before the guard.
func (o Options) ProxySocket() string {
	return strings.TrimSuffix(o.Socket, ".sock") + ".proxy.sock"
}

// A RefusedError says why a domain cannot be attached or detached.
type RefusedError struct{ Domain, Reason string }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("domain %s stays as it is: %s", e.Domain, e.Reason)
}

// domain is the definition of a domain.
type domain struct {
	doc  *etree.Document
	root *etree.Element
}

func parse(definition string) (*domain, error) {
	doc := etree.NewDocument()
	if err := doc.ReadFromString(definition); err != nil {
		return nil, fmt.Errorf("the definition of the domain: %w", err)
	}
	if doc.Root() == nil || doc.Root().Tag != "domain" {
		return nil, errors.New("the definition of the domain has no element domain")
	}
	return &domain{doc, doc.Root()}, nil
}

func (d *domain) String() string {
	text, err := d.doc.WriteToString()
	if err != nil {
		return err.Error() // a strings.Builder does not fail
	}
	return text
}

func (d *domain) name() string { return text(d.root.SelectElement("name")) }

func (d *domain) refuse(format string, args ...any) error {
	return &RefusedError{d.name(), fmt.Sprintf(format, args...)}
}

// text returns the text of an element; "" if there is none.
func text(e *etree.Element) string {
	if e == nil {
		return ""
	}
	return e.Text()
}

// attr returns an attribute of a child; "" if there is none.
func attr(e *etree.Element, child, name string) string {
	if c := e.SelectElement(child); c != nil {
		return c.SelectAttrValue(name, "")
	}
	return ""
}

// disks returns the disks of the domain.
func (d *domain) disks() []*etree.Element {
	devices := d.root.SelectElement("devices")
	if devices == nil {
		return nil
	}
	return devices.SelectElements("disk")
}

// kept returns the element of the metadata with the original disks; nil if the domain is not
// attached.
func (d *domain) kept() *etree.Element {
	metadata := d.root.SelectElement("metadata")
	if metadata == nil {
		return nil
	}
	for _, e := range metadata.ChildElements() {
		if e.Tag == rootTag && e.NamespaceURI() == namespace {
			return e
		}
	}
	return nil
}

// rewrite returns the definition of a domain with guarded disks: those with the targets, or all of
// them that can be guarded if there are no targets.
func rewrite(definition string, targets []string, opt Options) (string, []Disk, error) {
	d, err := parse(definition)
	if err != nil {
		return "", nil, err
	}
	if d.kept() != nil {
		return "", nil, d.refuse("it is attached already: see fsward detach")
	}
	chosen, err := d.choose(targets)
	if err != nil {
		return "", nil, err
	}
	kept := etree.NewElement(prefix + ":" + rootTag)
	kept.CreateAttr("xmlns:"+prefix, namespace)
	var disks []Disk
	for _, e := range chosen {
		disk, err := describe(e)
		if err != nil {
			return "", nil, d.refuse("disk %s: %v", attr(e, "target", "dev"), err)
		}
		original := etree.NewDocumentWithRoot(e.Copy())
		text, err := original.WriteToString()
		if err != nil {
			return "", nil, err
		}
		one := kept.CreateElement(prefix + ":" + diskTag)
		one.CreateAttr("target", disk.Target)
		one.SetText(text)
		disk.Notes = guarded(e, disk.Target, opt)
		disks = append(disks, disk)
	}
	metadata := d.root.SelectElement("metadata")
	if metadata == nil {
		metadata = etree.NewElement("metadata")
		d.root.InsertChildAt(0, metadata)
	}
	metadata.AddChild(kept)
	return d.String(), disks, nil
}

// choose returns the disks with the targets. Without targets it returns all hard disks that the
// guest may write.
func (d *domain) choose(targets []string) (chosen []*etree.Element, err error) {
	if len(targets) == 0 {
		for _, e := range d.disks() {
			if e.SelectAttrValue("device", "disk") == "disk" && e.SelectElement("readonly") == nil {
				chosen = append(chosen, e)
			}
		}
		if len(chosen) == 0 {
			return nil, d.refuse("it has no disk that its guest may write")
		}
		return chosen, nil
	}
	for i, target := range targets {
		e := d.disk(target)
		if e == nil {
			var have []string
			for _, e := range d.disks() {
				have = append(have, attr(e, "target", "dev"))
			}
			return nil, d.refuse("it has no disk %s, but %s", target, strings.Join(have, ", "))
		}
		for _, other := range targets[:i] {
			if other == target {
				return nil, d.refuse("disk %s is named twice", target)
			}
		}
		chosen = append(chosen, e)
	}
	return chosen, nil
}

// disk returns the disk with a target; nil if there is none.
func (d *domain) disk(target string) *etree.Element {
	for _, e := range d.disks() {
		if attr(e, "target", "dev") == target {
			return e
		}
	}
	return nil
}

// restore returns the definition of an attached domain with its original disks. The rest stays as
// it is, also if it was changed since.
func restore(definition string) (string, []Disk, error) {
	d, err := parse(definition)
	if err != nil {
		return "", nil, err
	}
	kept := d.kept()
	if kept == nil {
		return "", nil, d.refuse("it is not attached")
	}
	var disks []Disk
	for _, one := range kept.SelectElements(diskTag) {
		target := one.SelectAttrValue("target", "")
		original := etree.NewDocument()
		if err := original.ReadFromString(one.Text()); err != nil || original.Root() == nil {
			return "", nil, d.refuse("its metadata does not have the original disk %s: %v", target, err)
		}
		now := d.disk(target)
		if now == nil || attr(now, "source", "protocol") != "nbd" {
			return "", nil, d.refuse("it has no guarded disk %s any more. Its original definition is\n%s",
				target, one.Text())
		}
		disk, err := describe(original.Root())
		if err != nil {
			return "", nil, d.refuse("the original disk %s in its metadata: %v", target, err)
		}
		disks = append(disks, disk)
		parent, at := now.Parent(), now.Index()
		parent.RemoveChildAt(at)
		parent.InsertChildAt(at, original.Root())
	}
	metadata := kept.Parent()
	removeWithSpace(kept)
	if len(metadata.ChildElements()) == 0 {
		removeWithSpace(metadata)
	}
	return d.String(), disks, nil
}

// removeWithSpace removes an element and the white space before it.
func removeWithSpace(e *etree.Element) {
	parent, at := e.Parent(), e.Index()
	parent.RemoveChildAt(at)
	if at == 0 {
		return
	}
	if space, ok := parent.Child[at-1].(*etree.CharData); ok && space.IsWhitespace() {
		parent.RemoveChildAt(at - 1)
	}
}

// seconds formats a duration for libvirt.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(d.Round(time.Second) / time.Second))
}
