// Package checkerbuild builds repair programs from Debian's sources, as their descriptions say.
// repair/paths/source.sh fetches the sources. Start with New.
package checkerbuild

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"fsward/repair/adapter"
)

// A Build is a folder of sources that were built there.
type Build struct {
	Sources string // the folder
	recipe  *adapter.Rebuild
}

// New configures sources and builds them, unless that was done before. settings are further
// arguments of configure, such as CC=clang.
func New(ctx context.Context, sources string, recipe *adapter.Rebuild,
	settings ...string) (*Build, error) {
	sources, err := filepath.Abs(sources)
	if err != nil {
		return nil, err
	}
	b := &Build{Sources: sources, recipe: recipe}
	done := filepath.Join(sources, "checker-built")
	if _, err := os.Stat(done); err == nil {
		return b, nil
	}
	steps := [][]string{append(append([]string{"./configure"}, recipe.Configure...), settings...)}
	if len(recipe.Prepare) > 0 {
		steps = append([][]string{recipe.Prepare}, steps...)
	}
	for _, argv := range steps {
		if err := b.do(ctx, argv...); err != nil {
			return nil, err
		}
	}
	if err := b.make(ctx); err != nil {
		return nil, err
	}
	return b, os.WriteFile(done, nil, 0o644)
}

// File returns the path of a source file of the program.
func (b *Build) File(name string) string {
	return filepath.Join(b.Sources, filepath.Dir(b.recipe.Binary), name)
}

// Program builds the program from the sources as they are, and copies it. make compiles only what
// has changed.
func (b *Build) Program(ctx context.Context, to string) error {
	if err := b.make(ctx); err != nil {
		return err
	}
	return b.do(ctx, "cp", b.recipe.Binary, to)
}

func (b *Build) make(ctx context.Context) error {
	for _, target := range b.recipe.Make {
		if err := b.do(ctx, append([]string{"make"}, strings.Fields(target)...)...); err != nil {
			return err
		}
	}
	return nil
}

// do runs a command in the folder of the sources. Its error has the end of the output.
func (b *Build) do(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = b.Sources
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out[max(0, len(out)-2000):])
	}
	return nil
}
