package spec

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed stacks/*.yaml
var shipped embed.FS

// Stacks returns the names of the shipped stacks.
func Stacks() (out []string) {
	list, err := fs.Glob(shipped, "stacks/*.yaml")
	if err != nil {
		panic(err) // the constant pattern is malformed
	}
	for _, p := range list {
		out = append(out, strings.TrimSuffix(path.Base(p), ".yaml"))
	}
	return out
}

// Load returns a stack. name is one of Stacks, or the path of a file that ends in .yaml or .yml.
func Load(name string) (Spec, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return Read(name)
	}
	data, err := shipped.ReadFile("stacks/" + name + ".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return Spec{}, fmt.Errorf("there is no stack %q; there are %s, and files that end in .yaml",
			name, strings.Join(Stacks(), ", "))
	}
	if err != nil {
		return Spec{}, err
	}
	s, err := parse(data)
	if err != nil {
		return Spec{}, fmt.Errorf("stack %s: %w", name, err)
	}
	s.Name = name
	return s, nil
}
