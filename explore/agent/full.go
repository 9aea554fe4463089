package agent

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FillName is the name of the file that FillDisk makes. A Tree has no sum of its contents, which
// take long to read.
const FillName = "fsward-fill"

// EmptyNames is the pattern of the names that FillInodes makes (path.Match). They are short enough
// for BFS, which has names of 14 bytes.
const EmptyNames = "fsward-i????"

// FillDisk makes the file FillName in the root directory of a file system, gives it all free space,
// and forces it to the disk. It uses fallocate(2), which leaves the file empty, or writes.
func FillDisk(root string) Op { return Op{Code: opFillDisk, s: root} }

// FreeDisk removes the file of FillDisk.
func FreeDisk(root string) Op { return Op{Code: opFreeDisk, s: root} }

// FillInodes makes empty files in the root directory of a file system until there is no inode for
// another one (ENOSPC), and forces them to the disk. It makes at most maxEmpty files.
func FillInodes(root string) Op { return Op{Code: opFillInodes, s: root} }

// FreeInodes removes the files of FillInodes.
func FreeInodes(root string) Op { return Op{Code: opFreeInodes, s: root} }

// The sizes of the first and the last allocation of FillDisk, in bytes. The last one is the
// smallest block that a file system has.
const (
	firstAllocation = 1 << 30
	firstWrite      = 1 << 20
	lastAllocation  = 512
)

// maxEmpty bounds the files of FillInodes. A file system with more inodes keeps some free.
const maxEmpty = 2048

// A grower gives a file n more bytes of space from off on, and returns how many it gave.
type grower func(fd int, off, n int64) (int64, error)

// allocate is a grower that keeps the file's size.
func allocate(fd int, off, n int64) (int64, error) {
	if err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n); err != nil {
		return 0, err
	}
	return n, nil
}

// writeFill is a grower that writes bytes other than zero. A file that shows them has stale data.
func writeFill(fd int, off, n int64) (int64, error) {
	done, err := unix.Pwrite(fd, bytes.Repeat([]byte{0xfb}, int(n)), off)
	return int64(max(done, 0)), err
}

// fillDisk performs FillDisk.
func fillDisk(root string) error {
	path := filepath.Join(root, FillName)
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ENOSPC) {
		return nil // nothing is free
	}
	if err != nil {
		return err
	}
	err = fill(fd)
	if err == nil {
		err = unix.Fsync(fd)
	}
	return errors.Join(err, unix.Close(fd))
}

// fill gives a file all free space of its file system.
func fill(fd int) error {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if err := errors.Join(unix.Fstatfs(fd, &fs), unix.Fstat(fd, &st)); err != nil {
		return err
	}
	grow, n := grower(allocate), int64(firstAllocation)
	// FAT frees what is allocated behind the end of a file when the inode leaves memory.
	if _, err := grow(fd, 0, lastAllocation); errors.Is(err, unix.EOPNOTSUPP) ||
		fs.Type == unix.MSDOS_SUPER_MAGIC {
		grow, n = writeFill, firstWrite
	}
	for off := st.Size; n >= lastAllocation; {
		got, err := grow(fd, off, n)
		off += got
		switch {
		case errors.Is(err, unix.ENOSPC):
			n /= 2
		case err != nil:
			return err
		}
	}
	return nil
}

// freeDisk performs FreeDisk. There is no file if FillDisk found no inode for it.
func freeDisk(root string) error {
	err := unix.Unlink(filepath.Join(root, FillName))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// fillInodes performs FillInodes.
func fillInodes(root string) error {
	for i := range maxEmpty {
		path := filepath.Join(root, fmt.Sprintf("fsward-i%04d", i))
		err := unix.Mknod(path, unix.S_IFREG|0o600, 0)
		if errors.Is(err, unix.ENOSPC) {
			break
		}
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

// freeInodes performs FreeInodes.
func freeInodes(root string) error {
	names, err := readNames(root)
	if err != nil {
		return err
	}
	for _, name := range names {
		if is, _ := filepath.Match(EmptyNames, name); !is {
			continue
		}
		if err := unix.Unlink(filepath.Join(root, name)); err != nil {
			return err
		}
	}
	return nil
}
