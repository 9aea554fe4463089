package guest

import (
	"context"
	"crypto/sha256"
	_ "embed" // the script
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Needs are what a guest needs beside the programs and modules that every guest has.
type Needs struct {
	// Packages are Debian packages. They come with all packages that they depend on. One whose name
	// ends in "-" is left out of these.
	Packages []string `yaml:"packages" json:"packages,omitempty"`
	Modules  []string `yaml:"modules" json:"modules,omitempty"` // of the guest's kernel
}

// Add adds the needs of another part of a stack.
func (n *Needs) Add(other Needs) {
	n.Packages = union(n.Packages, other.Packages)
	n.Modules = union(n.Modules, other.Modules)
}

// union returns the sorted words of both lists, without repetition.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// None reports whether every guest has all that is needed.
func (n Needs) None() bool { return len(n.Packages)+len(n.Modules) == 0 }

// needed matches the names of packages and modules.
var needed = regexp.MustCompile(`^[a-z0-9][a-z0-9.+_-]*$`)

// Check returns an error if a name cannot be that of a package or a module.
func (n Needs) Check() error {
	for _, name := range slices.Concat(n.Packages, n.Modules) {
		if !needed.MatchString(name) {
			return fmt.Errorf("%q is not the name of a Debian package or a kernel module", name)
		}
	}
	return nil
}

//go:embed overlay.sh
var overlayScript string

// overlays is the folder for archives of packages, in the folder of the guest.
const overlays = "overlays"

// overlayOf returns the path of the archive with what is needed, for the guest in a folder. The
// name is a hash of all that it is made from.
func (n Needs) overlayOf(dir string) (string, error) {
	kernel, err := os.ReadFile(filepath.Join(dir, "kernel", "package"))
	if err != nil {
		return "", fmt.Errorf("only a guest that guest/build.sh made can get packages and modules: %w",
			err)
	}
	sum := sha256.Sum256(fmt.Appendf(kernel, "%s\n%q\n%q", overlayScript, n.Packages, n.Modules))
	return filepath.Abs(filepath.Join(dir, overlays, fmt.Sprintf("%x.cpio.zst", sum[:8])))
}

// Has reports whether the guest in a folder has all that is needed, without fetching anything.
func (n Needs) Has(dir string) bool {
	if n.None() {
		return true
	}
	path, err := n.overlayOf(dir)
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Overlay makes an archive of what is needed for the guest in a folder, unless it is there. It
// needs apt and Debian's mirror. It returns the path of the archive, and how much of the guest's
// memory it takes.
func (n Needs) Overlay(ctx context.Context, dir string) (path string, mib uint, err error) {
	if err := n.Check(); err != nil {
		return "", 0, err
	}
	if path, err = n.overlayOf(dir); err != nil {
		return "", 0, err
	}
	if err := n.makeOverlay(ctx, dir, path); err != nil {
		return "", 0, err
	}
	text, err := os.ReadFile(path + ".mib")
	if err != nil {
		return "", 0, err
	}
	size, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 16)
	return path, uint(size), err
}

// makeOverlay makes the archive, unless it exists. Others that want it wait.
func (n Needs) makeOverlay(ctx context.Context, dir, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	lock, err := os.Create(path + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, "sh", "-s", dir, path, strings.Join(n.Packages, " "),
		strings.Join(n.Modules, " "))
	c.Stdin = strings.NewReader(overlayScript)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Join writes archives of the guest, one after the other, to a file. The kernel unpacks all.
func Join(file string, archives ...string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for _, name := range archives {
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
	}
	return nil
}
