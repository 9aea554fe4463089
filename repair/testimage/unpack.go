package testimage

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Where Btrfs has its magic number.
const (
	btrfsMagicAt = 65536 + 64
	btrfsMagic   = "_BHRfS_M"
)

// Unpack reads an image of a file system that may be compressed with gzip, xz or zstd, or, for
// Btrfs, be a dump of btrfs-image. Its bytes are in an unnamed file below tmp until Close.
func Unpack(ctx context.Context, path, fs, tmp string) (*Image, error) {
	dir, err := os.MkdirTemp(tmp, "fsward-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	plain := filepath.Join(dir, "plain")
	if err := decompress(ctx, path, plain); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := Open(plain)
	if err != nil || fs != "btrfs" {
		return m, err
	}
	magic := make([]byte, len(btrfsMagic))
	if _, err := m.ReadAt(magic, btrfsMagicAt); err == nil && string(magic) == btrfsMagic {
		return m, nil
	}
	if err := m.Close(); err != nil {
		return nil, err
	}
	restored := filepath.Join(dir, "restored")
	if err := run(ctx, "", "btrfs-image", "-r", plain, restored); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return Open(restored)
}

// decompress writes what a file holds to another, with holes.
func decompress(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var r io.Reader = in
	switch {
	case strings.HasSuffix(from, ".gz"):
		if r, err = gzip.NewReader(in); err != nil {
			return err
		}
	case strings.HasSuffix(from, ".zst"):
		z, err := zstd.NewReader(in, zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		r = z
	case strings.HasSuffix(from, ".xz"):
		return decompressXZ(ctx, in, to)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	return unpack(out, r)
}

// decompressXZ runs xz, because no library of the project reads its format.
func decompressXZ(ctx context.Context, in io.Reader, to string) error {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "xz", "-dc", "--memlimit=128MiB")
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stderr = in, &complaint
	text, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := unpack(out, text); err != nil {
		cancel()
		_ = cmd.Wait() // it was ended
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("xz: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return nil
}
