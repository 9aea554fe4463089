package ramdisk

import (
	"fmt"
	"os"
	"time"

	"fsward/explore/device"
)

var module = device.Module{Name: "fsw_ramdisk", ABI: ABI, Hello: cmdHello, Mark: cmdMark}

// Control is the open control device of the module. It is safe for concurrent use. Mark puts a text
// of 1 to MaxText bytes into the log. Close closes the device and leaves the disks as they are.
type Control struct{ *device.Control }

// Open opens the control device of the loaded module. It fails if the module has another version of
// the ABI.
func Open() (*Control, error) {
	c, err := module.Open()
	if err != nil {
		return nil, err
	}
	return &Control{c}, nil
}

// OpenLog opens the log for a Reader, as device.Module.OpenLog does.
func OpenLog() (*os.File, error) { return module.OpenLog() }

// Hello returns the state of the module.
func (c *Control) Hello() (h Hello, err error) {
	var b [helloSize]byte
	if err = c.Call("hello", cmdHello, b[:]); err == nil {
		h.decode(&b)
	}
	return h, err
}

// Make makes disk n (0 to MaxDisks-1), filled with zeros. bytes is its size, a multiple of PageSize
// and at most MaxBytes.
func (c *Control) Make(n uint32, bytes uint64) (*Disk, error) {
	d := &Disk{c, n}
	if bytes == 0 {
		return nil, fmt.Errorf("disk %d: the size is 0 bytes", n)
	}
	return d, d.do("make", cmdDisk, d.disk(bytes))
}

// Disk is a disk of the module. It is safe for concurrent use.
type Disk struct {
	c *Control
	n uint32
}

// Disk returns disk n, which exists.
func (c *Control) Disk(n uint32) *Disk { return &Disk{c, n} }

// Number returns the disk's number.
func (d *Disk) Number() uint32 { return d.n }

// Path returns the path of the block device.
func (d *Disk) Path() string { return Path(d.n) }

// Path returns the path of the block device of disk n.
func Path(n uint32) string { return fmt.Sprintf("/dev/fswrd%d", n) }

func (d *Disk) do(what string, cmd uint32, arg []byte) error {
	return d.c.Call(d.Path()+": "+what, cmd, arg)
}

func (d *Disk) disk(bytes uint64) []byte {
	b := make([]byte, diskSize)
	le.PutUint32(b, d.n)
	le.PutUint64(b[8:], bytes)
	return b
}

// Remove removes the disk with its contents and snapshots. It fails with EBUSY while the block
// device is open.
func (d *Disk) Remove() error { return d.do("remove", cmdDisk, d.disk(0)) }

// Log switches logging on or off. Before, it does the bios that a rule delays, and fails those that
// wait for Answer.
func (d *Disk) Log(on bool) error { return d.turn("log", cmdLog, on) }

func (d *Disk) turn(what string, cmd uint32, on bool) error {
	b := make([]byte, switchSize)
	le.PutUint32(b, d.n)
	if on {
		b[4] = 1
	}
	return d.do(what, cmd, b)
}

// Guard switches guarding on or off. While it is on, each flush and each bio that changes the disk
// waits for Answer. The log, which must be on, reports these bios. Bios that wait when guarding
// ends still need their answer.
func (d *Disk) Guard(on bool) error { return d.turn("guard", cmdGuard, on) }

// Answer completes a bio that waits: with errno 0 the disk does it, otherwise it fails with that
// error. A bio that has waited for the module's hold_ms, a minute by default, has failed already;
// Answer then returns ENOENT.
func (d *Disk) Answer(id uint64, errno uint32) error {
	b := make([]byte, 0, answerSize)
	b = le.AppendUint32(b, d.n)
	b = le.AppendUint32(b, errno)
	return d.do("answer", cmdAnswer, le.AppendUint64(b, id))
}

// Snapshot keeps the contents of the disk under a name of 1 to MaxName bytes. It copies nothing.
// Its cost grows with the number of pages written since the last snapshot.
func (d *Disk) Snapshot(name string) error {
	_, err := d.named("snapshot", cmdSnapshot, name)
	return err
}

// Restored is the cost of restoring a snapshot.
type Restored struct {
	Pages uint64        // pages that were restored
	Took  time.Duration // time of the command
}

// Restore gives the disk the contents of a snapshot. Its cost grows with the number of pages
// written since, and not with the size of the disk. Before, it does or fails delayed bios, as Log
// does. The kernel's cache of the block device keeps its contents. So the disk must not be mounted,
// or the caller must issue BLKFLSBUF.
func (d *Disk) Restore(name string) (Restored, error) {
	begin := time.Now()
	pages, err := d.named("restore", cmdRestore, name)
	return Restored{pages, time.Since(begin)}, err
}

// Drop deletes a snapshot.
func (d *Disk) Drop(name string) error {
	_, err := d.named("drop", cmdDrop, name)
	return err
}

func (d *Disk) named(what string, cmd uint32, name string) (pages uint64, err error) {
	b, err := encodeName(d.n, 0, name)
	if err != nil {
		return 0, err
	}
	err = d.do(what+" "+name, cmd, b)
	return le.Uint64(b[8:]), err
}

// Changed returns the numbers of the pages in which the disk may differ from a snapshot, in
// ascending order: all pages that were written between the two.
func (d *Disk) Changed(name string) (pages []uint64, err error) {
	for from := uint64(0); ; from = pages[len(pages)-1] + 1 {
		head, err := encodeName(d.n, from, name)
		if err != nil {
			return nil, err
		}
		b := make([]byte, changedSize)
		copy(b, head)
		if err := d.do("changed since "+name, cmdChanged, b); err != nil {
			return nil, err
		}
		n := le.Uint32(b[4:])
		for i := range min(n, maxNumbers) {
			pages = append(pages, le.Uint64(b[snapshotSize+8*i:]))
		}
		if n < maxNumbers {
			return pages, nil
		}
	}
}

// Page reads a page of PageSize bytes. It bypasses the kernel's cache of the block device.
func (d *Disk) Page(number uint64, data *[PageSize]byte) error {
	b := d.page(number)
	if err := d.do("read page", cmdPageGet, b); err != nil {
		return err
	}
	copy(data[:], b[16:])
	return nil
}

// SetPage writes a page without a bio. The log records it as a Patch. As with Restore, the kernel's
// cache of the block device keeps its contents.
func (d *Disk) SetPage(number uint64, data *[PageSize]byte) error {
	b := d.page(number)
	copy(b[16:], data[:])
	return d.do("set page", cmdPageSet, b)
}

func (d *Disk) page(number uint64) []byte {
	b := make([]byte, pageSize)
	le.PutUint32(b, d.n)
	le.PutUint64(b[8:], number)
	return b
}

// Inject adds a rule. A disk has at most MaxRules rules that can still fire.
func (d *Disk) Inject(r Rule) error { return d.do("inject", cmdInject, r.encode(d.n)) }

// ClearRules removes all rules.
func (d *Disk) ClearRules() error {
	b := make([]byte, numberSize)
	le.PutUint32(b, d.n)
	return d.do("clear rules", cmdClear, b)
}

// Stat returns the state of the disk.
func (d *Disk) Stat() (s Stat, err error) {
	var b [statSize]byte
	le.PutUint32(b[:], d.n)
	if err = d.do("stat", cmdStat, b[:]); err == nil {
		s.decode(&b)
	}
	return s, err
}
