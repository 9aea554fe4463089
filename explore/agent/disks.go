package agent

import (
	"os"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
	"fsward/explore/ubd"
)

// diskOps performs operations on the disks of fsw_ramdisk, or on those of user-mode Linux.
type diskOps struct {
	ctl  *ramdisk.Control // nil until the first operation
	area ubd.Area         // not nil: the disks are those of user-mode Linux
}

func (d *diskOps) close() {
	if d.ctl != nil {
		_ = d.ctl.Close()
	}
}

// do performs an operation. It opens the control device first if needed.
func (d *diskOps) do(o *Op) (value uint64, data []byte, err error) {
	if d.area != nil {
		return 0, nil, d.share(o)
	}
	if d.ctl == nil {
		if d.ctl, err = ramdisk.Open(); err != nil {
			return 0, nil, err
		}
	}
	disk := d.ctl.Disk(o.n)
	switch o.Code {
	case opDiskMake:
		_, err = d.ctl.Make(o.n, o.a)
	case opDiskRemove:
		err = disk.Remove()
	case opDiskLog:
		err = disk.Log(o.a != 0)
	case opDiskMark:
		err = d.ctl.Mark(o.s)
	case opDiskSnapshot:
		err = disk.Snapshot(o.s)
	case opDiskRestore:
		r, e := disk.Restore(o.s)
		value, err = r.Pages, e
	case opDiskDrop:
		err = disk.Drop(o.s)
	case opDiskChanged:
		pages, e := disk.Changed(o.s)
		for _, p := range pages {
			data = appendNumber(data, p)
		}
		value, err = uint64(len(pages)), e
	case opDiskPages:
		return readPages(disk, o.a, o.b)
	case opDiskSet:
		err = setPages(disk, o.a, o.data)
	case opDiskForget:
		err = flushCache(disk.Path())
	case opDiskInject:
		r, e := o.rule()
		if err = unix.EINVAL; e == nil {
			err = disk.Inject(r)
		}
	case opDiskClear:
		err = disk.ClearRules()
	case opDiskGuard:
		err = disk.Guard(o.a != 0)
	case opDiskAnswer:
		if err = unix.EINVAL; o.b <= maxErrno {
			err = disk.Answer(o.a, uint32(o.b))
		}
	default:
		err = unix.ENOSYS
	}
	return value, data, err
}

// share performs an operation on disks of user-mode Linux, for those that a batch has between
// others. The host performs the others itself, since the disks are its files.
func (d *diskOps) share(o *Op) error {
	switch o.Code {
	case opDiskMark:
		return d.area.Mark(o.s)
	case opDiskInject:
		r, err := o.rule()
		if err != nil {
			return unix.EINVAL
		}
		return d.area.Inject(o.n, r)
	case opDiskClear:
		d.area.ClearRules(o.n)
		return nil
	}
	return unix.ENOSYS
}

// flushCache makes the kernel write back and drop its cache of a block device (BLKFLSBUF).
func flushCache(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.IoctlSetInt(int(f.Fd()), unix.BLKFLSBUF, 0)
}

// readPages performs DiskPages. Where bios have no side effect, it reads the block device directly,
// which is faster. Where bios are logged or counted by rules, it reads single pages from the
// module.
func readPages(disk *ramdisk.Disk, from, to uint64) (next uint64, data []byte, err error) {
	s, err := disk.Stat()
	if err != nil {
		return from, nil, err
	}
	if from > to || to > s.Bytes/ramdisk.PageSize {
		return from, nil, unix.EINVAL
	}
	read := disk.Page
	if !s.Logging && s.Rules == 0 {
		direct, err := openDirect(disk.Path())
		if err != nil {
			return from, nil, err
		}
		defer direct.close()
		read = direct.page
	}
	var page, zero [ramdisk.PageSize]byte
	found := 0
	for next = from; next < to && found < MaxPages; next++ {
		if err := read(next, &page); err != nil {
			return next, data, err
		}
		if page != zero {
			data = append(le.AppendUint64(data, next), page[:]...)
			found++
		}
	}
	return next, data, nil
}

// directBytes is the number of bytes that a directReader reads at once.
const directBytes = 1 << 20

// A directReader reads a block device past the kernel's cache.
type directReader struct {
	fd   int
	buf  []byte // a memory mapping, since O_DIRECT needs alignment
	at   uint64 // offset of buf in the device, in bytes
	have uint64 // bytes in buf
}

// openDirect opens a block device for reading with O_DIRECT.
func openDirect(path string) (d *directReader, err error) {
	d = &directReader{}
	if d.fd, err = unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0); err != nil {
		return nil, err
	}
	d.buf, err = unix.Mmap(-1, 0, directBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		_ = unix.Close(d.fd)
		return nil, err
	}
	return d, nil
}

func (d *directReader) close() {
	_ = unix.Munmap(d.buf)
	_ = unix.Close(d.fd)
}

// page reads one page of the device into data.
func (d *directReader) page(number uint64, data *[ramdisk.PageSize]byte) error {
	off := number * ramdisk.PageSize
	if off < d.at || off+ramdisk.PageSize > d.at+d.have {
		n, err := unix.Pread(d.fd, d.buf, int64(off))
		if err != nil {
			return err
		}
		if n < ramdisk.PageSize {
			return unix.EIO
		}
		d.at, d.have = off, uint64(n)
	}
	copy(data[:], d.buf[off-d.at:])
	return nil
}

// setPages writes data to the pages of a disk from page at on.
func setPages(disk *ramdisk.Disk, at uint64, data []byte) error {
	if len(data)%ramdisk.PageSize != 0 {
		return unix.EINVAL
	}
	var page [ramdisk.PageSize]byte
	for ; len(data) > 0; at++ {
		data = data[copy(page[:], data):]
		if err := disk.SetPage(at, &page); err != nil {
			return err
		}
	}
	return nil
}
