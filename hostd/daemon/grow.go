package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"fsward/blocktap/qemudisk"
	"fsward/hostd/guard"
)

// growImage makes the image of a disk that nobody has open larger. size is in bytes; 0 leaves the
// image as it is, since somebody else has made it larger, such as lvextend a block device.
func growImage(ctx context.Context, spec guard.DiskSpec, size uint64) error {
	if size == 0 {
		return nil
	}
	if qemudisk.IsURI(spec.Path) {
		return errors.New("make a remote disk larger on its server, then omit --size")
	}
	st, err := os.Stat(spec.Path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file: make it larger with its own tool, then omit --size",
			spec.Path)
	}
	format := spec.Format
	if format == "" || format == qemudisk.Auto {
		if format, err = qemudisk.Detect(spec.Path); err != nil {
			return err
		}
	}
	// qemu-img refuses to shrink without --shrink.
	out, err := exec.CommandContext(ctx, "qemu-img", "resize", "-q", "-f", string(format), "--",
		spec.Path, strconv.FormatUint(size, 10)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("qemu-img resize (Debian package qemu-utils): %w: %s", err,
			bytes.TrimSpace(out))
	}
	return nil
}
