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

// The workload of the Brunch thesis, section 5.3: files in a tree of directories, with sizes that
// are exponentially distributed. Its commands create, resize, partly rewrite and remove files. Once
// there are a thousand files, at least that many remain.
const (
	meanSize = 16 << 10 // bytes
	keep     = 1000     // files
)

// A tree lists the existing files and directories of the workload, so that each command succeeds.
type tree struct {
	*rand.Rand
	do      commands
	dirs    []string
	files   []string
	created int // number of files and directories made so far
}

// commands runs the operations of the workload, as system calls or as programs.
type commands interface {
	mkdir(path string) error
	create(path string, size int64) error
	resize(path string, size int64) error
	rewrite(path string, off, size int64) error
	remove(path string) error
}

// runThesis runs count commands of the workload in the folder dir. With byPrograms each command is
// a program, as in the thesis. With commits it commits after every hundredth command, and returns
// the time of each commit.
func runThesis(random *rand.Rand, dir string, count int,
	byPrograms, commits bool) (took []time.Duration, err error) {
	w := &worker{Rand: random, dir: dir}
	t := &tree{Rand: random, do: calls{w}, dirs: []string{dir}}
	if byPrograms {
		t.do = programs{}
	}
	for i := range count {
		if err := t.command(); err != nil {
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

// writeTimes writes times in nanoseconds to a file, one a line.
func writeTimes(path string, took []time.Duration) error {
	var b []byte
	for _, t := range took {
		b = append(strconv.AppendInt(b, t.Nanoseconds(), 10), '\n')
	}
	return os.WriteFile(path, b, 0o600)
}

// command runs one random command.
func (t *tree) command() error {
	n := t.IntN(10)
	switch {
	case n == 0:
		return t.do.mkdir(t.grow(&t.dirs, "dir"))
	case n < 6 || len(t.files) < keep/10:
		return t.do.create(t.grow(&t.files, "file"), t.size())
	case n == 6:
		return t.do.resize(t.file(), t.size())
	case n == 7 && len(t.files) > keep:
		i := t.IntN(len(t.files))
		path := t.files[i]
		t.files[i] = t.files[len(t.files)-1]
		t.files = t.files[:len(t.files)-1]
		return t.do.remove(path)
	default:
		return t.rewrite()
	}
}

func (t *tree) file() string { return t.files[t.IntN(len(t.files))] }

func (t *tree) size() int64 { return int64(t.ExpFloat64() * meanSize) }

// grow adds a new path in a random directory to a list, and returns it.
func (t *tree) grow(list *[]string, prefix string) string {
	t.created++
	path := filepath.Join(t.dirs[t.IntN(len(t.dirs))], fmt.Sprintf("%s%d", prefix, t.created))
	*list = append(*list, path)
	return path
}

// rewrite rewrites one to four segments of a file.
func (t *tree) rewrite() error {
	path := t.file()
	var errs []error
	for range 1 + t.IntN(4) {
		size := 1 + t.size()/4
		errs = append(errs, t.do.rewrite(path, t.Int64N(meanSize), size))
	}
	return errors.Join(errs...)
}

// fill makes small files, a thousand in each directory, and commits them.
func fill(random *rand.Rand, dir string, files int) error {
	w := &worker{Rand: random, dir: dir}
	for i := range files {
		folder := filepath.Join(dir, fmt.Sprintf("fill%d", i/1000))
		if i%1000 == 0 {
			if err := unix.Mkdir(folder, 0o755); err != nil {
				return err
			}
		}
		err := w.open(filepath.Join(folder, fmt.Sprintf("file%d", i)), unix.O_CREAT|unix.O_EXCL,
			func(fd int) error {
				_, err := unix.Write(fd, []byte("a small file\n"))
				return err
			})
		if err != nil {
			return err
		}
	}
	return syncfs(w)
}
