package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A worker runs random operations of a profile, one at a time.
type worker struct {
	*rand.Rand
	number int // from 0
	dir    string
	mix    []weighted
	done   int // number of operations so far
	verity int // number of files with fs-verity
}

// weighted is an operation and its weight among the operations of its profile.
type weighted struct {
	name   string
	weight int
	op     func(*worker) error
}

// run runs operations until ctx is done, or until it has run limit of them; 0 is no limit. It
// returns the first error that a sound file system does not return.
func (w *worker) run(ctx context.Context, limit int) error {
	total := 0
	for _, m := range w.mix {
		total += m.weight
	}
	for ctx.Err() == nil && (limit == 0 || w.done < limit) {
		n := w.IntN(total)
		i := 0
		for n >= w.mix[i].weight {
			n -= w.mix[i].weight
			i++
		}
		switch err := w.mix[i].op(w); {
		case err == nil || allowed(err):
		case errors.Is(err, unix.EIO) && writable(w.dir) == nil:
			// Linux returns EIO from a write, and logs nothing, if the page that it read for the write was
			// invalidated meanwhile. A refused commit would have made the file system read-only.
			fmt.Fprintf(os.Stderr, "fsload: %s, operation %d: %v; the file system accepts writes\n",
				w.mix[i].name, w.done, err)
		default:
			return fmt.Errorf("%s, operation %d: %w", w.mix[i].name, w.done, err)
		}
		w.done++
		if w.done%500 == 0 {
			if err := writable(w.dir); err != nil {
				return fmt.Errorf("the file system accepts no more writes: %w", err)
			}
		}
	}
	return nil
}

// allowed reports whether a sound file system may return an error.
func allowed(err error) bool {
	return slices.ContainsFunc([]error{
		unix.ENOENT, unix.EEXIST, unix.ENOTEMPTY, unix.EISDIR, unix.ENOTDIR, unix.ENOSPC,
		unix.EDQUOT, unix.EINVAL, unix.EOPNOTSUPP, unix.EPERM, unix.EXDEV, unix.EMLINK,
		unix.ELOOP, unix.ENODATA, unix.EFBIG, unix.EBUSY, unix.ETXTBSY, unix.ENXIO,
		unix.ENAMETOOLONG, unix.ERANGE, unix.E2BIG, unix.EAGAIN, unix.EBADF, unix.ENOTTY,
		unix.ESTALE, unix.ESPIPE, unix.ENODEV,
	}, func(e error) bool { return errors.Is(err, e) })
}

// folder returns the path of a directory that may exist, at most three levels deep.
func (w *worker) folder() string {
	path := w.dir
	for range w.IntN(4) {
		path = filepath.Join(path, fmt.Sprintf("d%d", w.IntN(5)))
	}
	return path
}

// file returns the path of a file that may exist. Its name is usually short, and sometimes as long
// as possible.
func (w *worker) file() string {
	name := fmt.Sprintf("f%d", w.IntN(40))
	if w.IntN(8) == 0 {
		name += strings.Repeat("-long", w.IntN(50))
	}
	return filepath.Join(w.folder(), name[:min(len(name), 255)])
}

// size returns a length below limit in bytes, usually small.
func (w *worker) size(limit int64) int64 {
	return w.Int64N(1<<w.IntN(20)+1) % limit
}

// span returns an offset and a length in bytes. Half of the spans are aligned to blocks of 4 KiB.
func (w *worker) span() (off, size int64) {
	off, size = w.size(1<<20), 1+w.size(1<<18)
	if w.IntN(2) == 0 {
		off, size = off&^4095, (size+4095)&^4095
	}
	return off, size
}

// open opens a file for reading and writing, with further flags, and closes it after f.
func (w *worker) open(path string, flags int, f func(fd int) error) error {
	flags |= unix.O_RDWR | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f(fd), unix.Close(fd))
}

// text returns n bytes of contents for a file: random bytes, a repeated line, or zeros.
func (w *worker) text(n int64) []byte {
	b := make([]byte, n)
	switch w.IntN(3) {
	case 0:
		for i := range b {
			b[i] = byte(w.Uint32())
		}
	case 1:
		line := fmt.Sprintf("line %d of a file that compresses well\n", w.IntN(1000))
		for i := range b {
			b[i] = line[i%len(line)]
		}
	}
	return b
}
