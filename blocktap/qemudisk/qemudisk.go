// Package qemudisk opens disks in formats that fsward does not read itself: qcow2, VMDK, VDI, VHDX
// and remote NBD exports. QEMU's own code reads and writes them. For each disk a
// qemu-storage-daemon exports the image on a private socket, and fsward is its client. Start
// reading at Open.
package qemudisk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/nbd"
)

// busyTime bounds how long Open waits for the qemu-storage-daemon of an fsward that was killed. It
// closes the image and ends: see endOrphan.
const busyTime = 20 * time.Second

// busyPause is the time between two attempts.
const busyPause = 100 * time.Millisecond

// Options are the options of Open.
type Options struct {
	Format   Format // Auto looks at the file: see Detect
	ReadOnly bool
	Log      *zap.Logger // nil for none
}

// Open opens a disk: a raw file or block device as blocktap.OpenFile does, and every other format
// through a qemu-storage-daemon. path may also be an NBD URI, whose content is raw unless a format
// is given. The locks are those of a raw file: an image that is in use is a *blocktap.BusyError.
//
// If the qemu-storage-daemon ends, every later request fails, with a *EndedError. It is not started
// again: writes that were not flushed may be lost, and only a guest that starts again can handle
// that. If it was killed, opening the image for writing again is a *LostError.
func Open(ctx context.Context, path string, opt Options) (blocktap.Disk, error) {
	format, err := resolve(path, opt.Format)
	if err != nil {
		return nil, err
	}
	if format == Raw && !IsURI(path) {
		return blocktap.OpenFile(path, blocktap.FileOptions{ReadOnly: opt.ReadOnly})
	}
	if opt.Log == nil {
		opt.Log = zap.NewNop()
	}
	opt.Format = format
	patience := time.Now().Add(busyTime)
	for {
		d, err := open(ctx, path, opt)
		var busy *blocktap.BusyError
		if !errors.As(err, &busy) || !busy.Orphan || time.Now().After(patience) {
			return d, err
		}
		endOrphan(path)
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(busyPause):
		}
	}
}

// OpenImage opens an image for reading: everything that blocktap.OpenImage opens, and the formats
// that Detect recognizes. A name that ends in .raw says that the disk is raw, whatever it begins
// with.
func OpenImage(path string) (blocktap.Disk, error) {
	if strings.EqualFold(filepath.Ext(path), rawExt) {
		return blocktap.OpenImage(path)
	}
	format, err := resolve(path, Auto)
	if err != nil {
		return nil, err
	}
	if format == Raw && !IsURI(path) {
		return blocktap.OpenImage(path)
	}
	return Open(context.Background(), path, Options{Format: format, ReadOnly: true})
}

// disk is a disk behind a qemu-storage-daemon.
type disk struct {
	*nbd.Remote
	path    string
	process *process
	closing sync.Once
	err     error // of Close
}

// open opens a disk whose format is known, once.
func open(ctx context.Context, path string, opt Options) (blocktap.Disk, error) {
	var lock *os.File
	marker := ""
	if !IsURI(path) {
		if err := checkImage(path, opt.Format); err != nil {
			return nil, err
		}
		var err error
		if lock, err = blocktap.LockImage(path, !opt.ReadOnly); err != nil {
			return nil, err
		}
		defer lock.Close() // the process has the lock then
		if !opt.ReadOnly {
			if marker, err = unmarked(path, lock); err != nil {
				return nil, err
			}
		}
	}
	nodes, err := blockdevs(path, opt.Format, opt.ReadOnly)
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, startConfig{path: path, nodes: nodes, readOnly: opt.ReadOnly, lock: lock,
		marker: marker, log: opt.Log})
	if err != nil {
		return nil, err
	}
	remote, err := p.dial(ctx, opt.ReadOnly)
	// The name of the socket is not needed any more. Without it nobody else can connect.
	if err = errors.Join(err, p.hideSocket()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), p.stop())
	}
	opt.Log.Info("the image is opened by qemu-storage-daemon", zap.String("image", path),
		zap.String("format", string(opt.Format)), zap.Int("pid", p.cmd.Process.Pid))
	d := &disk{Remote: remote, path: path, process: p}
	go d.watch(opt.Log)
	return d, nil
}

// watch logs the end of a process that should not have ended.
func (d *disk) watch(log *zap.Logger) {
	<-d.process.ended
	if !d.process.isStopping() {
		log.Error("the disk is lost: every request fails from now on, and no write is acknowledged",
			zap.Error(d.process.endedError()))
	}
}

// An EndedError says that the qemu-storage-daemon of a disk has ended.
type EndedError struct {
	Path   string // of the image
	Status string // exit status or signal
	Said   string // the end of its messages; may be empty
}

func (e *EndedError) Error() string {
	text := fmt.Sprintf("%s: its qemu-storage-daemon has ended (%s)", e.Path, e.Status)
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text + "; stop the guest, and start fsward again"
}

// explain replaces the error of a lost connection by its cause.
func (d *disk) explain(err error) error {
	if !errors.Is(err, nbd.ErrLost) {
		return err
	}
	select {
	case <-d.process.ended:
		return d.process.endedError()
	case <-time.After(time.Second): // the connection ends a moment before the process
		return fmt.Errorf("%s: %w", d.path, err)
	}
}

// ReadAt reads len(p) bytes at off.
func (d *disk) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Remote.ReadAt(p, off)
	return n, d.explain(err)
}

// WriteAt writes p at off.
func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	n, err := d.Remote.WriteAt(p, off)
	return n, d.explain(err)
}

// Flush makes all completed writes durable in the image.
func (d *disk) Flush() error { return d.explain(d.Remote.Flush()) }

// Trim frees a range in the image.
func (d *disk) Trim(off, n uint64) error { return d.explain(d.Remote.Trim(off, n)) }

// Zero makes a range read as zeros.
func (d *disk) Zero(off, n uint64) error { return d.explain(d.Remote.Zero(off, n)) }

// ZeroReserved makes a range read as zeros and keeps its space.
func (d *disk) ZeroReserved(off, n uint64) error { return d.explain(d.Remote.ZeroReserved(off, n)) }

// Extents describes the data and the holes of a range.
func (d *disk) Extents(off, n uint64) ([]blocktap.Extent, error) {
	runs, err := d.Remote.Extents(off, n)
	return runs, d.explain(err)
}

// Close ends the connection and the process, which closes the image and releases its locks. Later
// calls return the same.
func (d *disk) Close() error {
	d.closing.Do(func() {
		d.process.stopping.Store(true)
		d.err = errors.Join(d.Remote.Close(), d.process.stop())
	})
	return d.err
}

var _ interface {
	blocktap.Disk
	blocktap.Extenter
	blocktap.Reserver
	io.Closer
} = (*disk)(nil)
