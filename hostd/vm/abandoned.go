package vm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// RemoveAbandoned removes the folders that a pattern of filepath.Glob names and whose process was killed: they are ours, have a run directory of
// Connect by the name of run in them, and nobody uses that. A libvirtd that is left there is ended first. What is in use, or is none of these,
// stays as it is.
func RemoveAbandoned(ctx context.Context, pattern, run string) error {
	list, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range list {
		runDir := filepath.Join(dir, run)
		// What is there for a libvirtd was made under the lock: a folder that is only just made has none of it. The libvirtd may have ended by itself.
		if _, err := os.Lstat(configFile(runDir)); err != nil || !ownFolder(dir) {
			continue
		}
		lock, err := lockDir(runDir)
		if err != nil {
			continue // its process lives
		}
		if err = endLeftover(ctx, runDir); err == nil {
			err = os.RemoveAll(dir)
		}
		errs = append(errs, err, lock.Close())
	}
	return errors.Join(errs...)
}

// ownFolder tells whether a path is a folder of this user, and no symbolic link.
func ownFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
