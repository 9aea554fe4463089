package ramdisk

import (
	"fmt"
	"os"
	"time"

	"fsward/explore/device"
)

var module = device.Module{Name: "fsw_ramdisk", ABI: ABI, Hello: cmdHello, Mark: cmdMark}

// Control is the open control device of the module. Safe for concurrent use. Mark puts a text of 1 to MaxText bytes into the
// log; Close closes the device and leaves the disks as they are.
type Control struct{ *device.Control }

// Open opens the control device of the loaded module. A module of another version of the ABI is an error.
func Open() (*Control, error) {
	c, err := module.Open()
	if err != nil {
		return nil, err
	}
	return &Control{c}, nil
}

// OpenLog opens the log, as device.Module.OpenLog does, for a Reader.
func OpenLog() (*os.File, error) { return module.OpenLog() }

// Hello asks the module about itself.
func (c *Control) Hello() (h Hello, err error) {
	var b [helloSize]byte
	if err = c.Call("hello", cmdHello, b[:]); err == nil {
		h.decode(&b)
	}
	return h, err
}

// Make makes disk number n (0 to MaxDisks-1), of zeros. Its size in bytes is a multiple of PageSize, at most MaxBytes.
func (c *Control) Make(n uint32, bytes uint64) (*Disk, error) {
	d := &Disk{c, n}
	if bytes == 0 {
		return nil, fmt.Errorf("disk %d of no bytes", n)
	}
	return d, d.do("make", cmdDisk, d.disk(bytes))
}

// Disk is a disk of the module. Safe for concurrent use.
type Disk struct {
	c *Control
	n uint32
}

// Disk returns a disk that is there already.
func (c *Control) Disk(n uint32) *Disk { return &Disk{c, n} }

// Number returns the disk's number.
func (d *Disk) Number() uint32 { return d.n }

// Path returns the block device.
func (d *Disk) Path() string { return Path(d.n) }

// Path returns the block device of disk number n.
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

// Remove removes the disk and all that it holds. While somebody has it open that fails with EBUSY.
func (d *Disk) Remove() error { return d.do("remove", cmdDisk, d.disk(0)) }

// Log switches logging on or off. Bios that a rule delays are done before.
func (d *Disk) Log(on bool) error { return d.turn("log", cmdLog, on) }

func (d *Disk) turn(what string, cmd uint32, on bool) error {
	b := make([]byte, switchSize)
	le.PutUint32(b, d.n)
	if on {
		b[4] = 1
	}
	return d.do(what, cmd, b)
}

// Guard has each bio that changes the disk, and each flush, wait for Answer from now on, or no more. The disk is logged: its log tells of
// them. Those that wait when it ends still wait for their answer.
func (d *Disk) Guard(on bool) error { return d.turn("guard", cmdGuard, on) }

// Answer has a bio that waits be done, or fail with an error number. One that has waited for a minute (the module's hold_ms) has failed,
// and is ENOENT.
func (d *Disk) Answer(id uint64, errno uint32) error {
	b := make([]byte, 0, answerSize)
	b = le.AppendUint32(b, d.n)
	b = le.AppendUint32(b, errno)
	return d.do("answer", cmdAnswer, le.AppendUint64(b, id))
}

// Snapshot gives what the disk holds now a name of 1 to MaxName bytes. It copies nothing, and costs time for the pages
// written since the last snapshot.
func (d *Disk) Snapshot(name string) error {
	_, err := d.named("snapshot", cmdSnapshot, name)
	return err
}

// Restored is what restoring a snapshot took.
type Restored struct {
	Pages uint64        // that were put back
	Took  time.Duration // as seen from here
}

// Restore makes the disk hold what it held when the snapshot was made. It costs time for the pages that were written
// since, whatever the size of the disk. Bios that a rule delays are done before. The kernel's cache of the block device is
// not told: nothing should be mounted, or BLKFLSBUF follows.
func (d *Disk) Restore(name string) (Restored, error) {
	begin := time.Now()
	pages, err := d.named("restore", cmdRestore, name)
	return Restored{pages, time.Since(begin)}, err
}

// Drop forgets a snapshot.
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

// Changed returns the numbers of the pages, rising, in which the disk may differ from a snapshot: those that were written
// since, on the way from one to the other.
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

// Page reads a page of PageSize bytes, beside the kernel's cache of the block device.
func (d *Disk) Page(number uint64, data *[PageSize]byte) error {
	b := d.page(number)
	if err := d.do("read page", cmdPageGet, b); err != nil {
		return err
	}
	copy(data[:], b[16:])
	return nil
}

// SetPage writes a page, without a bio; the log has it as a Patch. Of the kernel's cache the same holds as for Restore.
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

// Inject adds a rule. At most MaxRules of a disk can still fire.
func (d *Disk) Inject(r Rule) error { return d.do("inject", cmdInject, r.encode(d.n)) }

// ClearRules takes all rules away.
func (d *Disk) ClearRules() error {
	b := make([]byte, numberSize)
	le.PutUint32(b, d.n)
	return d.do("clear rules", cmdClear, b)
}

// Stat returns the disk's state.
func (d *Disk) Stat() (s Stat, err error) {
	var b [statSize]byte
	le.PutUint32(b[:], d.n)
	if err = d.do("stat", cmdStat, b[:]); err == nil {
		s.decode(&b)
	}
	return s, err
}
