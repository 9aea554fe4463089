package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The workload of the Brunch thesis, section 5.3: files whose sizes are exponential with a mean of 16 KiB,
// in a tree of directories; files are created, resized, partly rewritten and removed, and at least a
// thousand are kept once there are so many.
const (
	meanSize = 16 << 10
	keep     = 1000
)

// A tree is what the workload has made so far, so that each of its commands succeeds.
type tree struct {
	*rand.Rand
	dirs  []string
	files []string
	made  int
}

// plant does so many commands of the workload below dir. A commit follows every hundredth, if so asked; it returns
// what each took.
func plant(random *rand.Rand, dir string, commands int, commits bool) (took []time.Duration, err error) {
	t := &tree{Rand: random, dirs: []string{dir}}
	w := &worker{Rand: random, dir: dir}
	for i := range commands {
		if err := t.command(w); err != nil {
			return nil, fmt.Errorf("command %d: %w", i, err)
		}
		if commits && i%100 == 99 {
			start := time.Now()
			if err := syncfs(w); err != nil {
				return nil, err
			}
			took = append(took, time.Since(start))
		}
	}
	return took, nil
}

// writeTimes writes nanoseconds, one a line.
func writeTimes(path string, took []time.Duration) error {
	var b []byte
	for _, t := range took {
		b = append(strconv.AppendInt(b, t.Nanoseconds(), 10), '\n')
	}
	return os.WriteFile(path, b, 0o600)
}

func (t *tree) command(w *worker) error {
	n := t.IntN(10)
	switch {
	case n == 0:
		return t.mkdir()
	case n < 6 || len(t.files) < keep/10:
		return t.create(w)
	case n == 6:
		return unix.Truncate(t.file(), t.size())
	case n == 7 && len(t.files) > keep:
		i := t.IntN(len(t.files))
		path := t.files[i]
		t.files[i] = t.files[len(t.files)-1]
		t.files = t.files[:len(t.files)-1]
		return unix.Unlink(path)
	default:
		return t.rewrite(w)
	}
}

func (t *tree) file() string { return t.files[t.IntN(len(t.files))] }

func (t *tree) size() int64 { return int64(t.ExpFloat64() * meanSize) }

func (t *tree) mkdir() error {
	t.made++
	dir := filepath.Join(t.dirs[t.IntN(len(t.dirs))], fmt.Sprintf("dir%d", t.made))
	t.dirs = append(t.dirs, dir)
	return unix.Mkdir(dir, 0o755)
}

func (t *tree) create(w *worker) error {
	t.made++
	path := filepath.Join(t.dirs[t.IntN(len(t.dirs))], fmt.Sprintf("file%d", t.made))
	t.files = append(t.files, path)
	return w.open(path, unix.O_CREAT|unix.O_EXCL, func(fd int) error {
		_, err := unix.Write(fd, w.text(t.size()))
		return err
	})
}

// rewrite writes one to four segments of a file anew.
func (t *tree) rewrite(w *worker) error {
	return w.open(t.file(), 0, func(fd int) error {
		var errs []error
		for range 1 + t.IntN(4) {
			_, err := unix.Pwrite(fd, w.text(1+t.size()/4), t.Int64N(meanSize))
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}

// fill makes so many small files, a thousand in each directory.
func fill(random *rand.Rand, dir string, files int) error {
	w := &worker{Rand: random, dir: dir}
	for i := range files {
		folder := filepath.Join(dir, fmt.Sprintf("fill%d", i/1000))
		if i%1000 == 0 {
			if err := unix.Mkdir(folder, 0o755); err != nil {
				return err
			}
		}
		err := w.open(filepath.Join(folder, fmt.Sprintf("file%d", i)), unix.O_CREAT|unix.O_EXCL, func(fd int) error {
			_, err := unix.Write(fd, []byte("a small file\n"))
			return err
		})
		if err != nil {
			return err
		}
	}
	return syncfs(w)
}
