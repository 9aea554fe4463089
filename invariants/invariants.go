package invariants

import (
	"embed"
	"fmt"
)

//go:embed btrfs ext3
var shipped embed.FS

// Builtin returns the rules that come with fsward for a file system ("btrfs", "ext3"), sorted by name.
func Builtin(fileSystem string) ([]File, error) {
	files, err := readFiles(shipped, fileSystem, "invariants/"+fileSystem)
	if err != nil {
		return nil, fmt.Errorf("no rules for %q: %w", fileSystem, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no rules for %q", fileSystem)
	}
	return files, nil
}
