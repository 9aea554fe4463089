package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// folderPrefix begins the names of the folders of units.
const folderPrefix = "fsward-unit-"

// A unitFolder is a new folder with the files of a unit. A lock on it shows that its worker lives.
type unitFolder struct {
	path string
	lock *os.File
}

// newUnitFolder makes a folder in dir, and first removes those of workers that were killed.
func newUnitFolder(dir string) (*unitFolder, error) {
	if err := removeLeft(dir); err != nil {
		return nil, err
	}
	for range 10 {
		path, err := os.MkdirTemp(dir, folderPrefix)
		if err != nil {
			return nil, err
		}
		lock, err := lockFolder(path)
		if err == nil {
			return &unitFolder{path, lock}, nil
		}
		// Another worker took it for one that was left, before it was locked.
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("%s: other workers remove each new folder", dir)
}

// remove removes the folder.
func (f *unitFolder) remove() error {
	return errors.Join(os.RemoveAll(f.path), f.lock.Close())
}

// lockFolder locks a folder. The error is EWOULDBLOCK if another process has locked it, and
// os.ErrNotExist if it was removed.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		_, err = os.Stat(path) // it may have been removed after Open
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeLeft removes the folders of units in dir that no process has locked. It leaves those that
// it may not remove.
func removeLeft(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if f, err := lockFolder(path); err == nil {
			_ = os.RemoveAll(path)
			_ = f.Close()
		}
	}
	return nil
}
