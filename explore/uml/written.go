package uml

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MaxDisks is the number of disks that a Written can follow.
const MaxDisks = 16

// PageBytes is the size of the parts of a disk that a Written tells apart.
const PageBytes = 4096

// mapsAt is where the bytes of the pages begin: see shim/written.c.
const mapsAt = 4096

// A Written notes which pages of its disks a machine writes, in a file that the library of the
// machine maps.
type Written struct {
	memory []byte
	disks  [][]byte // a byte for each page
}

// NewWritten makes the file at path. disks are the files of the disks; "": there is no such disk.
func NewWritten(path string, disks ...string) (w *Written, err error) {
	if len(disks) > MaxDisks {
		return nil, fmt.Errorf("%d disks; at most %d are possible", len(disks), MaxDisks)
	}
	head := make([]byte, mapsAt)
	var pages []uint64
	size := uint64(mapsAt)
	for i, disk := range disks {
		if disk == "" {
			pages = append(pages, 0)
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat(disk, &st); err != nil {
			return nil, fmt.Errorf("%s: %w", disk, err)
		}
		n := (uint64(st.Size) + PageBytes - 1) / PageBytes
		for list, word := range []uint64{st.Dev, st.Ino, n} {
			binary.NativeEndian.PutUint64(head[8*(list*MaxDisks+i):], word)
		}
		pages, size = append(pages, n), size+n
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(head); err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(size)); err != nil {
		return nil, err
	}
	w = &Written{}
	if w.memory, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", path, err)
	}
	rest := w.memory[mapsAt:]
	for _, n := range pages {
		w.disks, rest = append(w.disks, rest[:n:n]), rest[n:]
	}
	return w, nil
}

// Take returns the pages of a disk, by its number in NewWritten, that were written since the last
// call. The machine must not be writing.
func (w *Written) Take(disk int) (pages []uint64) {
	for n, b := range w.disks[disk] {
		if b != 0 {
			pages = append(pages, uint64(n))
			w.disks[disk][n] = 0
		}
	}
	return pages
}

// Close unmaps the file.
func (w *Written) Close() error { return unix.Munmap(w.memory) }

// WrittenEnv returns the variable that makes a machine use the file of a Written, as NAME=VALUE.
func WrittenEnv(path string) string { return "FSWARD_WRITTEN=" + path }
