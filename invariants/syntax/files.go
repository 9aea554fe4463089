package syntax

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// A File is a file of rules.
type File struct {
	Name string // as reports show it: "invariants/btrfs/dir.pl"
	Text []byte
}

// ReadDir returns the .pl files of a folder, sorted by name.
func ReadDir(dir string) ([]File, error) {
	files, err := ReadFiles(os.DirFS(dir), ".", dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no .pl files in %s", dir)
	}
	return files, nil
}

// ReadFiles returns the .pl files of a folder, sorted by name. shownAs is the folder in their
// names.
func ReadFiles(from fs.FS, dir, shownAs string) ([]File, error) {
	entries, err := fs.ReadDir(from, dir) // sorted by name
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".pl") {
			continue
		}
		text, err := fs.ReadFile(from, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: path.Join(shownAs, e.Name()), Text: text})
	}
	return files, nil
}
