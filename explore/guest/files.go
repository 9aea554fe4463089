package guest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Files is what a guest boots from.
type Files struct {
	Kernel    string // path
	Initramfs string // path
}

// Build makes the files with guest/build.sh of a source tree, or finds that they are up to date. They lie in the folder dir; its kernel
// is the one that it was first made for. The initramfs has what FileSystems need.
func Build(ctx context.Context, source, dir string) (Files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Files{}, err
	}
	script := filepath.Join(source, "guest", "build.sh")
	if out, err := exec.CommandContext(ctx, "sh", script, dir).CombinedOutput(); err != nil {
		return Files{}, fmt.Errorf("cannot build the guest: %w\n%s", err, out)
	}
	return Files{Kernel: filepath.Join(dir, "vmlinuz"), Initramfs: filepath.Join(dir, "explorer.cpio.zst")}, nil
}
