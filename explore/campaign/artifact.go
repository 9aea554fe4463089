package campaign

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Bounds of the files of a finding.
const (
	maxFiles  = 256
	maxBytes  = 64 << 20 // of all files together
	maxPacked = maxBytes + 1<<20
	maxWindow = 8 << 20 // memory of the decompressor, bytes
)

// fileName is the form of the names in a path. A name does not begin with a dot.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$`)

// checkPath returns an error for a path that is not one of a file below a folder.
func checkPath(name string) error {
	parts := strings.Split(name, "/")
	if len(parts) > 4 {
		return fmt.Errorf("the path %.200q has more than 4 names", name)
	}
	for _, p := range parts {
		if !fileName.MatchString(p) {
			return fmt.Errorf("the path %.200q has the name %.130q", name, p)
		}
	}
	return nil
}

// A packedFile is a file that pack finds.
type packedFile struct {
	name string // relative, with slashes
	size int64
}

// pack writes the files of a folder as a compressed tar archive. It leaves out what exceeds the
// bounds, the largest files first; the note says what.
func pack(w io.Writer, dir string) (note string, err error) {
	list, err := packable(dir)
	if err != nil {
		return "", err
	}
	z, err := zstd.NewWriter(w, zstd.WithWindowSize(maxWindow), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return "", err
	}
	t := tar.NewWriter(z)
	var left []string
	room := int64(maxBytes)
	for i, f := range list {
		if i >= maxFiles || f.size > room || checkPath(f.name) != nil {
			left = append(left, f.name)
			continue
		}
		room -= f.size
		if err := addFile(t, dir, f); err != nil {
			return "", err
		}
	}
	if len(left) > 0 {
		note = cleanText("left out: " + strings.Join(left, ", "))
	}
	return note, errors.Join(t.Close(), z.Close())
}

// packable returns the regular files below a folder, small ones first.
func packable(dir string) (list []packedFile, err error) {
	err = filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		list = append(list, packedFile{filepath.ToSlash(name), info.Size()})
		return err
	})
	slices.SortFunc(list, func(a, b packedFile) int {
		return cmp.Or(cmp.Compare(a.size, b.size), strings.Compare(a.name, b.name))
	})
	return list, err
}

func addFile(t *tar.Writer, dir string, f packedFile) error {
	in, err := os.Open(filepath.Join(dir, filepath.FromSlash(f.name)))
	if err != nil {
		return err
	}
	defer in.Close()
	err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: f.size, Mode: 0o644})
	if err == nil {
		_, err = io.CopyN(t, in, f.size)
	}
	return err
}

// unpack writes the files of an archive into a folder. A file that is there already must have the
// same bytes; other files stay. It refuses paths that leave the folder, links, and more than the
// bounds. It makes no folder if nothing can be read.
func unpack(r io.Reader, dir string) error {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(io.LimitReader(z, maxBytes+maxFiles*4096)) // a header is two blocks at most
	room := int64(maxBytes)
	names := make(map[string]bool)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if room -= h.Size; len(names) >= maxFiles || room < 0 {
			return fmt.Errorf("more than %d files or %d MiB", maxFiles, maxBytes>>20)
		}
		if names[h.Name] {
			return fmt.Errorf("%.200q is there twice", h.Name)
		}
		names[h.Name] = true
		if err := extract(root, t, h); err != nil {
			return err
		}
	}
}

// partName is a file that is being written. checkPath accepts no such name.
const partName = ".part"

// extract writes one file. It appears under its name only when it is complete, so that a folder
// that was not finished can be finished later.
func extract(root *os.Root, t *tar.Reader, h *tar.Header) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("%.200q is not a file", h.Name)
	}
	if err := checkPath(h.Name); err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(h.Name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(partName, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, t)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	info, err := root.Lstat(h.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return root.Rename(partName, h.Name)
	}
	if err != nil {
		return err
	}
	if err := sameFile(root, info, h.Name); err != nil {
		return err
	}
	return root.Remove(partName)
}

// sameFile returns an error unless a file has the bytes of the one that is being written.
func sameFile(root *os.Root, info fs.FileInfo, name string) error {
	want, err := root.ReadFile(partName)
	if err != nil {
		return err
	}
	var got []byte
	if info.Mode().IsRegular() && info.Size() == int64(len(want)) {
		if got, err = root.ReadFile(name); err != nil {
			return err
		}
	}
	if got == nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%s holds another file; choose another folder",
			filepath.Join(root.Name(), filepath.FromSlash(name)))
	}
	return nil
}
