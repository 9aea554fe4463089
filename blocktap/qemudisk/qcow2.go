package qemudisk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Constants of the qcow2 format (docs/interop/qcow2.txt of QEMU). Numbers are big-endian.
const (
	qcow2V2Header = 72  // length of the header of version 2, bytes
	qcow2V3Header = 104 // least length of the header of version 3, bytes

	incompatibleDataFile = 1 << 2 // the data is in another file

	extensionEnd           = 0
	extensionBackingFormat = 0xe2792aca

	// maxBackingName is QEMU's limit on the name of a backing file in bytes; maxBackingChain bounds
	// the images of a chain, and maxExtensions the extensions of a header.
	maxBackingName  = 1023
	maxBackingChain = 64
	maxExtensions   = 64
)

// checkImage refuses an image that QEMU would open by guessing, or that needs what fsward cannot
// give. Formats other than qcow2 name their parts by themselves.
func checkImage(path string, format Format) error {
	for range maxBackingChain {
		if format != Qcow2 {
			return nil
		}
		next, err := readQcow2(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if next.name == "" {
			return nil
		}
		if path, err = next.path(path); err != nil {
			return err
		}
		format = next.format
	}
	return fmt.Errorf("%s: the chain of backing files has more than %d images", path, maxBackingChain)
}

// A backing is the description of the backing file in the header of a qcow2.
type backing struct {
	name   string // "" for none
	format Format
}

// path returns the path of the backing file of an image.
func (b backing) path(image string) (string, error) {
	if b.format == "" {
		return "", fmt.Errorf("%s does not name the format of its backing file %q, and QEMU would guess "+
			"it from bytes that a guest may have written: run qemu-img rebase -u -F FORMAT -b %q %s",
			image, b.name, b.name, image)
	}
	if prefix, _, ok := strings.Cut(b.name, ":"); ok && !strings.Contains(prefix, "/") {
		return "", fmt.Errorf("%s: its backing file %q is not a plain file, which is not supported",
			image, b.name)
	}
	if filepath.IsAbs(b.name) {
		return b.name, nil
	}
	return filepath.Join(filepath.Dir(image), b.name), nil
}

// readQcow2 reads the header of a qcow2.
func readQcow2(path string) (b backing, err error) {
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	return parseQcow2(f)
}

// parseQcow2 reads the header of a qcow2 for its backing file. Encrypted images, and images whose
// data is in another file, are errors.
func parseQcow2(r io.ReaderAt) (b backing, err error) {
	var h [qcow2V3Header]byte
	if n, err := r.ReadAt(h[:], 0); n < qcow2V2Header {
		return b, fmt.Errorf("cannot read the header of the qcow2: %w", err)
	}
	if string(h[:4]) != "QFI\xfb" {
		return b, errors.New("it is not a qcow2: it does not begin with the magic of one")
	}
	end := uint32(qcow2V2Header)
	switch version := binary.BigEndian.Uint32(h[4:]); version {
	case 2:
	case 3:
		if binary.BigEndian.Uint64(h[72:])&incompatibleDataFile != 0 {
			return b, errors.New("the data of the qcow2 is in another file, which is not supported")
		}
		end = binary.BigEndian.Uint32(h[100:])
	default:
		return b, fmt.Errorf("qcow2 of version %d is not supported", version)
	}
	if binary.BigEndian.Uint32(h[32:]) != 0 {
		return b, errors.New("the qcow2 is encrypted, which is not supported")
	}
	at, n := binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint32(h[16:])
	if at == 0 {
		return b, nil
	}
	if n == 0 || n > maxBackingName || at > 1<<21 {
		return b, fmt.Errorf("the name of its backing file has %d bytes at %d", n, at)
	}
	name := make([]byte, n)
	if _, err := r.ReadAt(name, int64(at)); err != nil {
		return b, fmt.Errorf("cannot read the name of its backing file: %w", err)
	}
	b.name = string(name)
	b.format, err = backingFormat(r, end, uint32(at))
	return b, err
}

// backingFormat looks for the format of the backing file in the extensions of a header, which lie
// between start and limit. It returns "" if they do not name it. What QEMU would read otherwise is
// an error: it takes the last of two names, and a name up to its first NUL.
func backingFormat(r io.ReaderAt, start, limit uint32) (format Format, err error) {
	at := start
	for range maxExtensions {
		var h [8]byte
		if at > limit || limit-at < uint32(len(h)) {
			return format, nil
		}
		if _, err := r.ReadAt(h[:], int64(at)); err != nil {
			return "", fmt.Errorf("cannot read the extensions of the header: %w", err)
		}
		typ, n := binary.BigEndian.Uint32(h[:]), binary.BigEndian.Uint32(h[4:])
		at += uint32(len(h))
		if typ == extensionEnd || n > limit-at {
			return format, nil
		}
		if typ == extensionBackingFormat {
			if format != "" {
				return "", errors.New("the header names the format of the backing file twice")
			}
			if format, err = formatName(r, at, n); err != nil {
				return "", err
			}
		}
		at += (n + 7) &^ 7
	}
	return "", fmt.Errorf("the header has more than %d extensions", maxExtensions)
}

// formatName reads the n bytes of the name of a format.
func formatName(r io.ReaderAt, at, n uint32) (Format, error) {
	if n > 15 { // QEMU's limit
		return "", fmt.Errorf("the name of the backing file's format has %d bytes", n)
	}
	name := make([]byte, n)
	if _, err := r.ReadAt(name, int64(at)); err != nil {
		return "", fmt.Errorf("cannot read the format of the backing file: %w", err)
	}
	if bytes.IndexByte(name, 0) >= 0 {
		return "", fmt.Errorf("the format of the backing file is %q", name)
	}
	return Format(name), nil
}

// CheckAlone returns an error if an image does not exist, is not of the format, or needs backing
// files.
func CheckAlone(path string, format Format) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	header, err := byHeader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if format != Raw && header != format {
		return fmt.Errorf("%s has no header of a %s image", path, format)
	}
	if format != Qcow2 {
		return nil
	}
	b, err := parseQcow2(f)
	if err == nil && b.name != "" {
		err = fmt.Errorf("it is the top of a chain of snapshots, over %s: merge them first, for example "+
			"with virsh blockcommit or qemu-img rebase -b ''", b.name)
	}
	return err
}
