package syntax

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// A File is a file of rules.
type File struct {
	Name string // as reports show it: "invariants/btrfs/dir.pl"
	Text []byte
	// Site: its rules are a site's own. Their names begin with "site/".
	Site bool
}

// ReadDir returns the .pl files of a folder, sorted by name.
func ReadDir(dir string) ([]File, error) {
	return ReadFiles(os.DirFS(dir), ".", dir)
}

// ReadText reads a file of text. The error says so if it is longer than a file of rules may be.
func ReadText(from fs.FS, name string) ([]byte, error) {
	f, err := from.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes", name, maxFileBytes)
	}
	return text, err
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
		text, err := ReadText(from, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: path.Join(shownAs, e.Name()), Text: text})
	}
	return files, nil
}
