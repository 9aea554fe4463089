package invariants

import (
	"embed"
	"fmt"

	"fsward/invariants/syntax"
)

//go:embed btrfs ext3
var shipped embed.FS

// Builtin returns the rules that come with fsward for a file system ("btrfs", "ext3"), sorted by name.
func Builtin(fileSystem string) ([]syntax.File, error) {
	files, err := syntax.ReadFiles(shipped, fileSystem, "invariants/"+fileSystem)
	if err != nil {
		return nil, fmt.Errorf("no rules for %q: %w", fileSystem, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no rules for %q", fileSystem)
	}
	return files, nil
}
