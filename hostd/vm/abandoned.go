package vm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// RemoveAbandoned removes the folders that match a pattern of filepath.Glob and whose process was
// killed. Such a folder belongs to this user, and has a run directory of Connect named run that
// nobody uses. A libvirtd that is left there is ended first. Other folders stay as they are.
func RemoveAbandoned(ctx context.Context, pattern, run string) error {
	list, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range list {
		runDir := filepath.Join(dir, run)
		// The files for a libvirtd are made under the lock: a folder that was only just made has none of
		// them. The libvirtd may have ended by itself.
		if _, err := os.Lstat(configFile(runDir)); err != nil || !ownFolder(dir) {
			continue
		}
		lock, err := lockDir(runDir)
		if err != nil {
			continue // its process is alive
		}
		if err = endLeftover(ctx, runDir); err == nil {
			err = os.RemoveAll(dir)
		}
		errs = append(errs, err, lock.Close())
	}
	return errors.Join(errs...)
}

// ownFolder reports whether a path is a folder of this user, and not a symbolic link.
func ownFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
