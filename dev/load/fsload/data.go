package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

func create(w *worker) error {
	return w.open(w.file(), unix.O_CREAT, func(fd int) error {
		_, err := unix.Write(fd, w.text(w.size(1<<16)))
		return err
	})
}

func overwrite(w *worker) error {
	return w.open(w.file(), 0, func(fd int) error {
		off, size := w.span()
		_, err := unix.Pwrite(fd, w.text(size), off)
		return err
	})
}

func appendTo(w *worker) error {
	return w.open(w.file(), unix.O_CREAT|unix.O_APPEND, func(fd int) error {
		_, err := unix.Write(fd, w.text(1+w.size(1<<14)))
		return err
	})
}

// direct writes with O_DIRECT, which bypasses the page cache and requires whole blocks.
func direct(w *worker) error {
	return w.open(w.file(), unix.O_DIRECT, func(fd int) error {
		// Anonymous memory is aligned to a page, as O_DIRECT requires.
		buf, err := unix.Mmap(-1, 0, 16<<10, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return err
		}
		copy(buf, w.text(int64(len(buf))))
		off, _ := w.span()
		_, err = unix.Pwrite(fd, buf, off&^4095)
		return errors.Join(err, unix.Munmap(buf))
	})
}

// mapped writes through a memory mapping of a file. Only this worker uses the file, so that nobody
// truncates it meanwhile.
func mapped(w *worker) error {
	path := filepath.Join(w.dir, fmt.Sprintf("mapped%d-%d", w.number, w.IntN(4)))
	return w.open(path, unix.O_CREAT, func(fd int) error {
		const size = 64 << 10
		if err := unix.Ftruncate(fd, size); err != nil {
			return err
		}
		// Allocate all blocks: a store to a hole would raise SIGBUS on a full file system.
		if err := unix.Fallocate(fd, 0, 0, size); err != nil {
			return err
		}
		buf, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		return errors.Join(store(buf[w.IntN(size):], w.text(w.size(1<<13))),
			unix.Msync(buf, unix.MS_SYNC), unix.Munmap(buf))
	})
}

// store copies from to the mapping of a file. If the kernel finds no space for the copy of a shared
// block, it raises SIGBUS (page_mkwrite in filemap.c), and store returns ENOSPC.
func store(to, from []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault, ok := recover().(runtime.Error); ok {
			err = fmt.Errorf("%w: %w", unix.ENOSPC, fault)
		}
	}()
	copy(to, from)
	return nil
}

func truncate(w *worker) error { return unix.Truncate(w.file(), w.size(1<<20)) }

func read(w *worker) error {
	return w.open(w.file(), 0, func(fd int) error {
		_, err := unix.Pread(fd, make([]byte, 1<<16), w.size(1<<18))
		return err
	})
}

// fallocate calls fallocate in a random mode. A file system may lack some of the modes.
func fallocate(w *worker) error {
	modes := []uint32{
		0, unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE,
		unix.FALLOC_FL_ZERO_RANGE, unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE,
	}
	return w.open(w.file(), unix.O_CREAT, func(fd int) error {
		off, size := w.span()
		return unix.Fallocate(fd, modes[w.IntN(len(modes))], off, size)
	})
}

// cutInline cuts compressed files within the extents in their items, with all that is allocated
// behind. Btrfs does the two in different transactions (btrfs_truncate, BTRFS_NEED_TRUNCATE_BLOCK),
// so that a commit can come in between.
func cutInline(w *worker) error {
	var paths []string
	for range 50 {
		path := w.file()
		_ = unix.Unlink(path) // only an empty file can become a compressed one
		err := w.open(path, unix.O_CREAT|unix.O_EXCL, func(fd int) error {
			if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flagCompress); err != nil {
				return err
			}
			if _, err := unix.Write(fd, bytes.Repeat([]byte("a line\n"), 400)); err != nil {
				return err
			}
			return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, 8192<<w.IntN(4))
		})
		if err == nil {
			paths = append(paths, path)
		} else if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	for _, path := range paths {
		if err := unix.Truncate(path, 1+w.size(2000)); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

// clone shares a range of a file, or the whole file, with another file.
func clone(w *worker) error {
	return w.open(w.file(), 0, func(from int) error {
		return w.open(w.file(), unix.O_CREAT, func(to int) error {
			if w.IntN(2) == 0 {
				return unix.IoctlFileClone(to, from)
			}
			off, size := w.span()
			return unix.IoctlFileCloneRange(to, &unix.FileCloneRange{
				Src_fd:      int64(from),
				Src_offset:  uint64(off) &^ 4095,
				Src_length:  uint64(size+4095) &^ 4095,
				Dest_offset: uint64(w.size(1<<20)) &^ 4095,
			})
		})
	})
}

func copyRange(w *worker) error {
	return w.open(w.file(), 0, func(from int) error {
		return w.open(w.file(), unix.O_CREAT, func(to int) error {
			off, size := w.span()
			to64 := w.size(1 << 20)
			_, err := unix.CopyFileRange(from, &off, to, &to64, int(size), 0)
			return err
		})
	})
}

func fsync(w *worker) error { return w.open(w.file(), 0, unix.Fsync) }

func fdatasync(w *worker) error { return w.open(w.file(), 0, unix.Fdatasync) }

// durable appends a small write with O_SYNC.
func durable(w *worker) error {
	return w.open(w.file(), unix.O_CREAT|unix.O_APPEND|unix.O_SYNC, func(fd int) error {
		_, err := unix.Write(fd, w.text(1+w.size(1<<12)))
		return err
	})
}

func fsyncFolder(w *worker) error {
	fd, err := unix.Open(w.folder(), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fsync(fd), unix.Close(fd))
}

func syncfs(w *worker) error {
	fd, err := unix.Open(w.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(fd), unix.Close(fd))
}

// large writes a file of 1 to 8 MiB, to fill the disk.
func large(w *worker) error {
	return w.open(w.file(), unix.O_CREAT, func(fd int) error {
		b := w.text(1 << 20)
		for i := range 1 + w.IntN(8) {
			if _, err := unix.Pwrite(fd, b, int64(i)<<20); err != nil {
				return err
			}
		}
		return nil
	})
}

// verity enables fs-verity on a file: the file becomes read-only and gets a tree of hashes. It
// fails if the kernel has no fs-verity.
func verity(w *worker) error {
	fd, err := unix.Open(w.file(), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	// struct fsverity_enable_arg: version, hash_algorithm, block_size; no salt and no signature.
	var arg [128]byte
	binary.NativeEndian.PutUint32(arg[0:], 1)
	binary.NativeEndian.PutUint32(arg[4:], unix.FS_VERITY_HASH_ALG_SHA256)
	binary.NativeEndian.PutUint32(arg[8:], 4096)
	err = unix.IoctlSetString(fd, unix.FS_IOC_ENABLE_VERITY, string(arg[:]))
	if err == nil {
		w.verity++
	}
	return errors.Join(err, unix.Close(fd))
}
