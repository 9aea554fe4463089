package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fsward/explore/spec"
)

// prepareGuest adds what a stack needs to the guest. It returns an error if the kernel of the guest
// lacks a component of the stack, before the guest is booted. It prints a warning if the guest is
// older than its sources.
func (f *exploreFlags) prepareGuest(w io.Writer, r spec.Run) error {
	warnOfOldGuest(w, f.guest.Dir)
	needs, err := r.AllNeeds()
	if err != nil {
		return err
	}
	f.guest.Needs.Add(needs)
	if !f.guest.Needs.Has(f.guest.Dir) {
		fmt.Fprintf(w, "fetching for the guest: %s\n",
			strings.Join(slices.Concat(f.guest.Needs.Packages, f.guest.Needs.Modules), " "))
	}
	release := guestRelease(f.guest.Dir)
	if r.RunIn == spec.InUserMode || release == "" { // the latter is a guest of the user's own
		return nil
	}
	return r.CheckKernel(release)
}

// warnOfOldGuest prints a line if a source of the guest in a folder was changed since it was made.
func warnOfOldGuest(w io.Writer, dir string) {
	if newer := newerSource(dir); newer != "" {
		fmt.Fprintf(w, "%s is newer than the guest in %s: guest/build.sh %[2]s makes the guest again\n",
			newer, dir)
	}
}

// guestRelease returns the release of the kernel of a guest that guest/build.sh made, as uname(2)
// returns it; "": it is not known.
func guestRelease(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "kernel", "package"))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(text)), "=")
	release, ok := strings.CutPrefix(name, "linux-image-")
	if !ok {
		return ""
	}
	return release
}

// guestSources are the folders of the sources that guest/build.sh puts into a guest.
var guestSources = []string{"guest", "guest-kmod", "ramdisk", "explore/agent", "explore/ekm"}

// newerSource returns a source of the guest that was changed after the guest was made; "": there is
// none, or the present folder is not that of the project.
func newerSource(dir string) (name string) {
	made, err := os.Stat(filepath.Join(dir, "explorer.cpio.zst"))
	if err != nil {
		return ""
	}
	if _, err := os.Stat(filepath.Join("guest", "build.sh")); err != nil {
		return ""
	}
	for _, folder := range guestSources {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			info, err := e.Info()
			if err == nil && info.ModTime().After(made.ModTime().Add(time.Second)) {
				name, err = path, fs.SkipAll
			}
			return err
		})
		if name != "" || err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return name
}
