package qemudisk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fsward/blocktap"
)

// A Format is a format of images.
type Format string

// The formats of disks.
const (
	Auto  Format = "auto" // Detect looks at the file
	Raw   Format = "raw"
	Qcow2 Format = "qcow2"
	VMDK  Format = "vmdk"
	VDI   Format = "vdi"
	VHDX  Format = "vhdx"
)

// A formatInfo says how a format is recognized.
type formatInfo struct {
	format Format
	magics []string
	at     int // offset of the magic, bytes
}

// formats are the formats besides raw. The magics are those of QEMU's probe functions (block/*.c,
// bdrv_probe).
var formats = []formatInfo{
	{Qcow2, []string{"QFI\xfb\x00\x00\x00\x02", "QFI\xfb\x00\x00\x00\x03"}, 0},
	{VMDK, []string{"KDMV", "COWD", "# Disk DescriptorFile"}, 0},
	{VDI, []string{"\x7f\x10\xda\xbe"}, 0x40},
	{VHDX, []string{"vhdxfile"}, 0},
}

// headLen is the number of bytes in which all magics lie.
const headLen = 512

// ParseFormat reads the name of a format.
func ParseFormat(s string) (Format, error) {
	names := []string{string(Auto), string(Raw)}
	for _, f := range formats {
		names = append(names, string(f.format))
	}
	for _, n := range names {
		if s == n {
			return Format(s), nil
		}
	}
	return "", fmt.Errorf("disk format %q is not one of %s", s, strings.Join(names, ", "))
}

// IsURI reports whether a path is the URI of a remote disk.
func IsURI(path string) bool {
	return strings.HasPrefix(path, "nbd://") || strings.HasPrefix(path, "nbd+unix://")
}

// Detect returns the format of an image by its header and its name. Both must say the same: a raw
// disk belongs to its guest, who may write the header of a qcow2 into its first sector, with any
// file of the host as its backing file. So the header alone decides nothing. Where the two differ,
// the error asks for the format.
func Detect(path string) (Format, error) {
	if err := blocktap.CheckKind(path); err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return "", err
	} else if st.IsDir() || st.Mode()&(os.ModeNamedPipe|os.ModeSocket|os.ModeCharDevice) != 0 {
		return Raw, nil // blocktap.OpenFile names what it is
	}
	header, err := byHeader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	name := byName(path)
	switch name {
	case header:
		return header, nil
	case Raw:
		return "", fmt.Errorf("%s begins like a %s image, but its name does not end in .%s. If it is "+
			"one, give it such a name; a symbolic link will do. If it is a raw disk whose guest may have "+
			"written that, %s", path, header, header, sayRaw)
	default:
		return "", fmt.Errorf("%s has the name of a %s image, but not its header: give it another name; "+
			"or, if it is a raw disk, %s", path, name, sayRaw)
	}
}

// sayRaw says how to read a disk as raw, whatever it begins with.
const sayRaw = "say --disk-format raw to guard and vm run, or give it a name that ends in " +
	rawExt + " for the commands that only read it"

// rawExt is the extension of a name that says that a disk is raw. It counts only for reading: a
// qcow2 that a guest writes as a raw disk is destroyed.
const rawExt = ".raw"

// byHeader returns the format whose magic an image begins with; Raw if there is none.
func byHeader(r io.ReaderAt) (Format, error) {
	var head [headLen]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	for _, f := range formats {
		for _, m := range f.magics {
			if n > f.at && bytes.HasPrefix(head[f.at:n], []byte(m)) {
				return f.format, nil
			}
		}
	}
	return Raw, nil
}

// byName returns the format that the extension of a file's name denotes; Raw if it denotes none.
func byName(path string) Format {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	for _, f := range formats {
		if ext == string(f.format) {
			return f.format
		}
	}
	return Raw
}

// resolve returns the format of a disk, which is never Auto.
func resolve(path string, format Format) (Format, error) {
	switch {
	case format != Auto && format != "":
		return format, nil
	case IsURI(path):
		return Raw, nil
	default:
		return Detect(path)
	}
}
