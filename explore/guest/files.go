package guest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Files are the files from which a guest boots.
type Files struct {
	Kernel    string // path
	Initramfs string // path
}

// Build makes the files in the folder dir with guest/build.sh of a source tree, unless they are up
// to date. A folder keeps the kernel that it was first built with. The initramfs holds the agent,
// the modules, and the programs of all components.
func Build(ctx context.Context, source, dir string) (Files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Files{}, err
	}
	script := filepath.Join(source, "guest", "build.sh")
	if out, err := exec.CommandContext(ctx, "sh", script, dir).CombinedOutput(); err != nil {
		return Files{}, fmt.Errorf("cannot build the guest: %w\n%s", err, out)
	}
	return Files{
		Kernel:    filepath.Join(dir, "vmlinuz"),
		Initramfs: filepath.Join(dir, "explorer.cpio.zst"),
	}, nil
}
