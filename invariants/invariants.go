package invariants

import (
	"embed"
	"fmt"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/syntax"
)

//go:embed btrfs ext3 volume
var shipped embed.FS

// Builtin returns the rules that come with fsward for "btrfs", "ext3" or "volume", sorted by name.
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

// NewReference loads rules for the file system of a schema into the reference engine, which is slow
// and complete. Tests compare the compiled engine with it. The prelude is added to the rules. The
// error joins a LoadError for each mistake found.
func NewReference(schema *change.Schema, files []File, options Options) (Engine, error) {
	e, err := reference.New(schema, files, options)
	if err != nil {
		return nil, err
	}
	return e, nil
}
