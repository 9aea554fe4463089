package damage

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// A Suite has damaged images as its damages: the test images of a repair program.
type Suite struct {
	dir   string
	paths []string // relative to dir
}

// suffixes are those of images, as e2fsprogs and btrfs-progs name them.
var suffixes = []string{".img", ".img.gz", ".img.xz", ".img.zst", ".raw.xz", ".raw", "image.gz"}

// NewSuite lists the images below a folder, in the order of their names.
func NewSuite(dir string) (*Suite, error) {
	s := &Suite{dir: dir}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(path, x) }) {
			name, err := filepath.Rel(dir, path)
			s.paths = append(s.paths, name)
			return err
		}
		return nil
	})
	if err == nil && len(s.paths) == 0 {
		err = fmt.Errorf("%s has no images; their names end with %s", dir, strings.Join(suffixes, ", "))
	}
	return s, err
}

// Name returns the name of the image with a number.
func (s *Suite) Name(n uint64) string { return s.paths[n] }

// Count returns the number of images.
func (s *Suite) Count() uint64 { return uint64(len(s.paths)) }

// First returns the number of images.
func (s *Suite) First() uint64 { return s.Count() }

// Fields returns the number of images twice: each is a group of its own.
func (s *Suite) Fields() (fields, groups int) { return len(s.paths), len(s.paths) }

// At returns the damage that is an image.
func (s *Suite) At(n uint64) (*Damage, error) {
	if n >= s.Count() {
		return nil, fmt.Errorf("image %d of %d", n, s.Count())
	}
	return s.image(s.paths[n]), nil
}

// image returns the damage that is an image with a name.
func (s *Suite) image(name string) *Damage {
	// e2fsprogs has a folder with an image.gz for each test.
	test := strings.TrimSuffix(name, "/image.gz")
	return &Damage{Group: "suite." + test, Spec: "suite:" + name, What: "image " + name,
		Image: filepath.Join(s.dir, name)}
}

// NewImage returns the suite of one image. The name of the file does not matter.
func NewImage(path string) *Suite {
	return &Suite{dir: filepath.Dir(path), paths: []string{filepath.Base(path)}}
}
