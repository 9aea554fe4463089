package offline

import (
	"os"
	"path/filepath"

	"fsward/hostd/guard"
	"fsward/invariants"
	"fsward/invariants/bundle"
)

// ExportRules writes the built-in rules to folders in dir and returns the number of files. It
// replaces no file.
func ExportRules(dir string) (n int, err error) {
	for _, fs := range guard.FileSystems() {
		files, err := invariants.Builtin(fs)
		if err != nil {
			return n, err
		}
		if err := os.MkdirAll(filepath.Join(dir, fs), 0o755); err != nil {
			return n, err
		}
		for _, f := range files {
			name := filepath.Join(dir, fs, filepath.Base(f.Name))
			if err := writeNew(name, f.Text); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// writeNew writes a file that does not exist yet.
func writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close() // the write has failed
		return err
	}
	return f.Close()
}

// WriteBundle writes a folder as a bundle in one file. Its rules must load.
func WriteBundle(dir, out string) error {
	if _, err := (guard.RulesConfig{Add: []string{dir}}).Load(); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if err := bundle.Write(f, dir, guard.FileSystems()); err != nil {
		_ = f.Close() // the bundle is not whole
		_ = os.Remove(out)
		return err
	}
	return f.Close()
}
