// Package e2fsbuild builds e2fsck from the sources of e2fsprogs, which repair/paths/source.sh
// fetches. Start with New.
package e2fsbuild

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Build is a folder with object files of e2fsck.
type Build struct {
	Sources string // the folder of e2fsprogs
	objects string
}

// New configures the sources and builds their libraries in the subfolder name, unless that was done
// before. settings are further arguments of configure, such as CC=clang.
func New(ctx context.Context, sources, name string, settings ...string) (*Build, error) {
	sources, err := filepath.Abs(sources)
	if err != nil {
		return nil, err
	}
	b := &Build{Sources: sources, objects: filepath.Join(sources, name)}
	done := filepath.Join(b.objects, "libraries-built")
	if _, err := os.Stat(done); err == nil {
		return b, nil
	}
	if err := os.MkdirAll(b.objects, 0o755); err != nil {
		return nil, err
	}
	configure := append([]string{filepath.Join(sources, "configure"), "--disable-nls",
		"--disable-fuse2fs", "--disable-defrag"}, settings...)
	if err := b.do(ctx, configure...); err != nil {
		return nil, err
	}
	if err := b.do(ctx, "make", "-j2", "libs"); err != nil {
		return nil, err
	}
	return b, os.WriteFile(done, nil, 0o644)
}

// do runs a command in the folder of the object files. Its error has the end of the output.
func (b *Build) do(ctx context.Context, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = b.objects
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out[max(0, len(out)-2000):])
	}
	return nil
}

// Program builds e2fsck from the sources as they are, and copies it. make compiles only what has
// changed.
func (b *Build) Program(ctx context.Context, to string) error {
	if err := b.do(ctx, "make", "-j2", "-C", "e2fsck", "e2fsck"); err != nil {
		return err
	}
	return b.do(ctx, "cp", filepath.Join("e2fsck", "e2fsck"), to)
}
