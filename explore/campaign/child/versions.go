package child

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Build returns what identifies a program of a version: the version, and for one that was not
// released also a hash of the file.
func Build(version, program string) (string, error) {
	if !strings.HasPrefix(version, "devel") {
		return version, nil
	}
	sum, err := hash(program)
	return version + " " + sum, err
}

// GuestVersion returns a hash of the guest in a folder: its kernel and the explorer's programs.
func GuestVersion(dir string) (string, error) {
	sum, err := hash(filepath.Join(dir, "vmlinuz"), filepath.Join(dir, "explorer.cpio.zst"))
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("there is no guest in %s; make guest makes one: %w", dir, err)
	}
	return sum, err
}

// hash returns 64 bits of the hash of files, in hexadecimal.
func hash(files ...string) (string, error) {
	all := sha256.New()
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(all, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(all.Sum(nil)[:8]), nil
}
