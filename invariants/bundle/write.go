package bundle

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"fsward/invariants/syntax"
)

// Write writes a folder as a zip file with the parts of a bundle and nothing else. The same folder
// gives the same bytes. The folder must have a manifest.
func Write(w io.Writer, dir string, fileSystems []string) error {
	b, err := Open(dir)
	if err != nil {
		return err
	}
	if b.Name == "" || b.Version == "" {
		return fmt.Errorf("%s: a bundle has a %s with a name and a version", dir, Manifest)
	}
	z := zip.NewWriter(w)
	put := func(name string) error {
		text, err := syntax.ReadText(b.from, name)
		if err != nil {
			return err
		}
		f, err := z.Create(name) // without a time, so that the bytes do not depend on it
		if err == nil {
			_, err = f.Write(text)
		}
		return err
	}
	if err := put(Manifest); err != nil {
		return err
	}
	for _, part := range append(append([]string{}, fileSystems...), dataDir, CasesDir) {
		if _, err := os.Stat(dir + "/" + part); err != nil {
			continue
		}
		err := fs.WalkDir(b.from, part, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !belongs(name) {
				return err
			}
			return put(name)
		})
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// belongs reports whether a file in a folder of a bundle is part of it.
func belongs(name string) bool {
	for _, end := range []string{".pl", ".pl.zst", ".csv"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
