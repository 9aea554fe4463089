package attach

import (
	"errors"
	"fmt"
	"slices"

	"github.com/beevik/etree"

	"fsward/blocktap/qemudisk"
)

// known are the children of a disk that a guarded disk can keep. A disk with another one, which may
// come with a newer libvirt, is refused: what it means is not known.
var known = []string{"driver", "source", "backingStore", "target", "iotune", "blockio", "serial",
	"wwn", "vendor", "product", "boot", "alias", "address", "geometry", "acpi", "throttlefilters"}

// reasons are children of a disk or of its source that a guarded disk cannot have.
var reasons = map[string]string{
	"auth":         "it needs a password",
	"encryption":   "it is encrypted by QEMU",
	"mirror":       "it is being copied",
	"readonly":     "it is read-only: there is nothing to guard",
	"reservations": "it has persistent reservations",
	"shareable":    "it is shared with other guests",
	"slices":       "it is a part of its image",
	"transient":    "it is transient: what the guest writes is thrown away",
}

// describe returns the disk of an element, or why it cannot be guarded.
func describe(e *etree.Element) (d Disk, err error) {
	d.Target = attr(e, "target", "dev")
	if kind := e.SelectAttrValue("device", "disk"); kind != "disk" {
		return d, fmt.Errorf("it is a %s", kind)
	}
	source := e.SelectElement("source")
	if source == nil {
		return d, errors.New("it has no source")
	}
	for _, child := range append(e.ChildElements(), source.ChildElements()...) {
		if reason := reasons[child.Tag]; reason != "" {
			return d, errors.New(reason)
		}
	}
	for _, child := range e.ChildElements() {
		if !slices.Contains(known, child.Tag) {
			return d, fmt.Errorf("fsward does not know its element %s", child.Tag)
		}
	}
	switch kind := e.SelectAttrValue("type", ""); kind {
	case "file":
		d.Source = source.SelectAttrValue("file", "")
	case "block":
		d.Source = source.SelectAttrValue("dev", "")
	default:
		return d, fmt.Errorf("it is a disk of type %s; fsward attaches those of type file and block",
			kind)
	}
	if d.Source == "" {
		return d, errors.New("it has no image")
	}
	if name := attr(e, "driver", "name"); name != "qemu" && name != "" {
		return d, fmt.Errorf("its driver is %s, not qemu", name)
	}
	format := attr(e, "driver", "type")
	if format == "" {
		format = string(qemudisk.Raw) // as libvirt does
	}
	d.Format, err = qemudisk.ParseFormat(format)
	if err != nil || d.Format == qemudisk.Auto {
		return d, fmt.Errorf("its driver type is %s, which is not supported", format)
	}
	if chain := e.SelectElement("backingStore"); chain != nil && len(chain.ChildElements()) > 0 {
		return d, errors.New("it is the top of a chain of snapshots (backingStore): " +
			"merge them first, for example with virsh blockcommit")
	}
	return d, nil
}

// guarded turns the element of a disk into that of the guarded disk: the source becomes the guard's
// socket. It returns what differs otherwise.
func guarded(e *etree.Element, export string, opt Options) (notes []string) {
	e.CreateAttr("type", "network")
	driver := e.SelectElement("driver")
	if driver == nil {
		driver = etree.NewElement("driver")
		e.InsertChildAt(0, driver)
	}
	driver.CreateAttr("name", "qemu")
	driver.CreateAttr("type", "raw")
	if cache := driver.SelectAttrValue("cache", ""); cache == "unsafe" {
		driver.CreateAttr("cache", "writeback")
		notes = append(notes, "cache='unsafe' drops the guest's flushes: it is cache='writeback' now")
	}
	if policy := driver.SelectAttrValue("error_policy", ""); policy == "stop" || policy == "ignore" {
		driver.CreateAttr("error_policy", "enospace")
		notes = append(notes, fmt.Sprintf("error_policy='%s' keeps a refusal from the guest: "+
			"it is error_policy='enospace' now", policy))
	}
	for _, a := range []string{"io", "discard_no_unref"} { // of files, of qcow2
		driver.RemoveAttr(a)
	}
	for _, child := range driver.ChildElements() {
		if child.Tag == "metadata_cache" { // of qcow2
			removeWithSpace(child)
		}
	}
	if chain := e.SelectElement("backingStore"); chain != nil {
		removeWithSpace(chain)
	}
	source := etree.NewElement("source")
	source.CreateAttr("protocol", "nbd")
	source.CreateAttr("name", export)
	host := source.CreateElement("host")
	host.CreateAttr("transport", "unix")
	host.CreateAttr("socket", opt.Socket)
	if opt.Reconnect > 0 {
		source.CreateElement("reconnect").CreateAttr("delay", seconds(opt.Reconnect))
	}
	old := e.SelectElement("source")
	at := old.Index()
	e.RemoveChildAt(at)
	e.InsertChildAt(at, source)
	return notes
}
