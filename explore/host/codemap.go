package host

import (
	"errors"
	"os"
	"path/filepath"

	"fsward/explore"
)

// CodeMap reads the code map of the guest in a folder. It is nil for a guest without one: only that
// of make guest-debug has it.
func CodeMap(dir string) (explore.CodeMap, error) {
	f, err := os.Open(filepath.Join(dir, explore.CodeMapName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return explore.ReadCodeMap(f)
}
