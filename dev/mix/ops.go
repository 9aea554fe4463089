package mix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// An op is an operation. Steps draw from ops, and phases end with some of onceOps.
type op struct {
	name  string
	fs    string   // the only file system that has it; "": any
	makes bool     // makes objects, so that a first phase may have it
	at    []string // values for Step.At
	run   func(w *world, s *Step) error
}

func (o op) fits(fs string) bool { return o.fs == "" || o.fs == fs }

// find returns the operation with a name; one that fails if there is none.
func find(list []op, name string) op {
	for _, o := range list {
		if o.name == name {
			return o
		}
	}
	return op{run: func(*world, *Step) error { return errors.New("no such operation") }}
}

var (
	naming = []string{"", "", "hash"}
	placed = []string{"random", "next", "sparse"}
)

var ops = []op{
	{name: "create", makes: true, at: naming, run: create},
	{name: "mkdir", makes: true, at: naming, run: mkdir},
	{name: "nest", makes: true, run: nest},
	{name: "link", makes: true, at: naming, run: link},
	{name: "symlink", makes: true, at: naming, run: symlink},
	{name: "write", makes: true, at: placed, run: write},
	{name: "fallocate", makes: true, at: placed, run: allocate(0)},
	{name: "setxattr", makes: true, at: naming, run: setxattr},
	{name: "clone", fs: "btrfs", makes: true, at: placed, run: clone},
	{name: "subvolume", fs: "btrfs", makes: true, run: subvolume},
	{name: "dedupe", fs: "btrfs", at: placed, run: dedupe},
	{name: "rename", at: naming, run: rename},
	{name: "replace", run: replace},
	{name: "unlink", run: unlink},
	{name: "rmdir", run: rmdir},
	{name: "punch", at: placed,
		run: allocate(unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE)},
	{name: "truncate", at: placed, run: truncate},
	{name: "removexattr", run: removexattr},
	{name: "chmod", run: chmod},
	{name: "chown", run: chown},
	{name: "orphan", run: orphan},
	{name: "delete-subvolume", fs: "btrfs", run: deleteSubvolume},
	{name: "qgroup", fs: "btrfs", run: qgroup},
	{name: "fsync", run: fsync},
}

func create(w *world, s *Step) error {
	path := w.name(s)
	err := open(path, unix.O_CREAT|unix.O_EXCL, func(fd int) error {
		_, err := unix.Write(fd, make([]byte, []int{0, 100, block}[w.IntN(3)]))
		return err
	})
	if err == nil {
		w.files = append(w.files, path)
	}
	return err
}

func mkdir(w *world, s *Step) error {
	path := w.name(s)
	err := unix.Mkdir(path, 0o755)
	if err == nil {
		w.dirs = append(w.dirs, path)
	}
	return err
}

// nest makes a directory in the newest one, at most 100 deep below the first.
func nest(w *world, s *Step) error {
	w.made++
	parent := w.dirs[len(w.dirs)-1]
	if w.made%100 == 1 {
		parent = w.folder(s.On)
	}
	path := filepath.Join(parent, fmt.Sprintf("p%dd%d", w.phase, w.made))
	err := unix.Mkdir(path, 0o755)
	if err == nil {
		w.dirs = append(w.dirs, path)
	}
	return err
}

func link(w *world, s *Step) error {
	file, err := w.file(s.On)
	if err != nil {
		return err
	}
	return unix.Link(file, w.name(s))
}

func symlink(w *world, s *Step) error { return unix.Symlink("target", w.name(s)) }

func write(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	return open(path, 0, func(fd int) error {
		b := make([]byte, block)
		for i := range b[:256] {
			b[i] = byte(w.Uint32())
		}
		_, err := unix.Pwrite(fd, b, w.offset(path, s.At))
		return err
	})
}

// allocate returns an operation that calls fallocate on a block.
func allocate(mode uint32) func(*world, *Step) error {
	return func(w *world, s *Step) error {
		path, err := w.file(s.On)
		if err != nil {
			return err
		}
		return open(path, 0, func(fd int) error {
			return unix.Fallocate(fd, mode, w.offset(path, s.At), block)
		})
	}
}

func truncate(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	return unix.Truncate(path, w.offset(path, s.At)+block/2)
}

func rename(w *world, s *Step) error {
	i := w.choose(len(w.files), s.On)
	if i < 0 {
		return unix.ENOENT
	}
	to := w.name(s)
	err := unix.Rename(w.files[i], to)
	if err == nil {
		w.files[i] = to
	}
	return err
}

// replace renames a file over another.
func replace(w *world, s *Step) error {
	i, j := w.choose(len(w.files), "any"), w.choose(len(w.files), s.On)
	if i < 0 || i == j {
		return unix.ENOENT
	}
	err := unix.Rename(w.files[i], w.files[j])
	if err == nil {
		w.forget(i)
	}
	return err
}

// forget drops a file from the list.
func (w *world) forget(i int) {
	w.files[i] = w.files[len(w.files)-1]
	w.files = w.files[:len(w.files)-1]
}

func unlink(w *world, s *Step) error {
	i := w.choose(len(w.files), s.On)
	if i < 0 {
		return unix.ENOENT
	}
	err := unix.Unlink(w.files[i])
	w.forget(i)
	return err
}

func rmdir(w *world, _ *Step) error {
	if len(w.dirs) < 2 {
		return unix.ENOENT
	}
	last := w.dirs[len(w.dirs)-1]
	w.dirs = w.dirs[:len(w.dirs)-1]
	return unix.Rmdir(last)
}

// orphan unlinks a file that stays open until the process ends.
func orphan(w *world, s *Step) error {
	const most = 900 // open files
	if w.made++; w.made > most {
		return unlink(w, s)
	}
	i := w.choose(len(w.files), s.On)
	if i < 0 {
		return unix.ENOENT
	}
	if _, err := unix.Open(w.files[i], unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	return unlink(w, &Step{On: "one"})
}

func setxattr(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	name := "user." + filepath.Base(w.name(&Step{On: "one"}))
	if s.At == "hash" {
		if w.made%32 == 1 || w.hash == 0 {
			w.hash = w.Uint32()
		}
		name = string(withHash(name, w.hash))
	}
	return unix.Lsetxattr(path, name, []byte("some value"), 0)
}

func removexattr(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	names := make([]byte, 64<<10)
	n, err := unix.Llistxattr(path, names)
	if err != nil {
		return err
	}
	for i, c := range names[:n] {
		if c == 0 {
			return unix.Lremovexattr(path, string(names[:i]))
		}
	}
	return unix.ENODATA
}

func chmod(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	return unix.Chmod(path, uint32(0o600+w.IntN(0o200)))
}

func chown(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil {
		return err
	}
	return unix.Lchown(path, w.IntN(100), w.IntN(100))
}

// fsync writes a log commit, seldom.
func fsync(w *world, s *Step) error {
	path, err := w.file(s.On)
	if err != nil || w.IntN(50) > 0 {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
