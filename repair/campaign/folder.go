package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FindingDirs returns the folders of findings that a folder stands for: itself, or all of a
// campaign, in the order of their names. A folder that is neither is an error.
func FindingDirs(dir string) (list []string, err error) {
	st, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is no folder; want that of a finding or of a campaign", dir)
	}
	if is, err := has(dir, findingFile); is || err != nil {
		return []string{dir}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		sub := filepath.Join(dir, e.Name())
		is, err := has(sub, findingFile)
		if err != nil {
			return nil, err
		}
		if is {
			list = append(list, sub)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	if is, err := has(dir, configFile); is || err != nil {
		return nil, err // a campaign without findings
	}
	return nil, fmt.Errorf("%s is not the folder of a finding or of a campaign: it has neither %s "+
		"nor %s", dir, findingFile, configFile)
}

// has reports whether a folder has a file.
func has(dir, name string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// readConfig reads the configuration in the folder of a campaign.
func readConfig(dir string) ([]byte, error) {
	text, err := readBounded(filepath.Join(dir, configFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the folder of a campaign: it has no %s", dir, configFile)
	}
	return text, err
}

// checkEmpty returns an error if a new campaign cannot have the folder: it has files.
func checkEmpty(dir string) error {
	entries, _ := os.ReadDir(dir) // what is wrong shows when the folder is made
	if len(entries) == 0 {
		return nil
	}
	is, err := has(dir, configFile)
	if is || err != nil {
		return errors.Join(fmt.Errorf("%s has a campaign; go on with it: fsward fsck resume %s", dir,
			dir), err)
	}
	return fmt.Errorf("%s is not empty; a campaign needs a new folder", dir)
}

// lockFolder opens the folder of a campaign and locks it until the file is closed.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errors.New("another fsward works on this campaign")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), f.Close())
	}
	return f, nil
}
