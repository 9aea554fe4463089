package detect_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"fsward/interp"
	"fsward/interp/detect"
)

// badDisk is a disk of zeros that cannot read the bytes from lo to hi.
type badDisk struct{ lo, hi int64 }

func (d badDisk) Size() uint64 { return 64 << 20 }

func (d badDisk) ReadAt(p []byte, off int64) (int, error) {
	if off < d.hi && off+int64(len(p)) > d.lo {
		return 0, syscall.EIO
	}
	clear(p)
	return len(p), nil
}

// TestUnreadable checks that a disk that cannot be read is not taken for one without a file system,
// or for a blank one, and that the error says where it is.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		name string
		disk badDisk
		want string
	}{
		{"nothing can be read", badDisk{0, 1 << 62}, "at byte 0 of disk 0"},
		{"the superblock of Btrfs", badDisk{64 << 10, 68 << 10}, "cannot read byte 65536"},
		{"a byte of the first MiB", badDisk{900 << 10, 901 << 10}, "cannot read byte 921600"},
	} {
		_, _, imageErr := detect.Image(c.disk, detect.Auto)
		_, volumesErr := detect.FollowVolumes(c.disk, detect.VolumeOptions{FS: detect.Auto})
		contents, contentsErr := detect.ReadContents(c.disk, detect.Auto)
		if contentsErr == nil {
			contentsErr = contents.Groups()[0].Err
		}
		for by, err := range map[string]error{"FollowVolumes": volumesErr, "ReadContents": contentsErr} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %v, want %q", c.name, by, err, c.want)
			}
		}
		for _, err := range []error{imageErr, volumesErr, contentsErr} {
			if !errors.Is(err, syscall.EIO) || errors.Is(err, interp.ErrNotFound) {
				t.Errorf("%s: %v, want an I/O error", c.name, err)
			}
		}
	}
}
