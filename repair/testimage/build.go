package testimage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A builder makes the image of one file system. It may leave files beside the image.
type builder func(ctx context.Context, image string) error

// builders has the file systems of which Build makes images.
var builders = map[string]builder{
	"ext2": ext(false, "-t", "ext2", "-O", "^resize_inode"),
	"ext3": ext(false, "-t", "ext3", "-J", "size=1"),
	"ext4": ext(true, "-t", "ext4", "-J", "size=1", "-O",
		"^resize_inode,metadata_csum,metadata_csum_seed,64bit"),
	"minix1": minixImage("1"),
	"minix2": minixImage("2"),
	"minix3": minixImage("3"),
	"vfat": filled(4<<20, false,
		[]string{"mkfs.fat", "-F", "16", "-s", "1", "-i", "12345678", "IMAGE"},
		[]string{"mcopy", "-s", "-i", "IMAGE", "TREE/f", "TREE/d", "::"}),
	"exfat": exfatImage,
	"xfs":   xfsImage,
	"f2fs": filled(64<<20, true, []string{"mkfs.f2fs", "-q", "IMAGE"},
		[]string{"sload.f2fs", "-f", "TREE", "IMAGE"}),
	"jfs":      mounted("jfs", 16<<20, "mkfs.jfs", "-q", "IMAGE"),
	"reiserfs": mounted("reiserfs", 36<<20, "mkreiserfs", "-q", "-f", "-f", "-u", uuid, "IMAGE"),
	"btrfs": filled(128<<20, true, []string{"mkfs.btrfs", "-q", "-U", uuid, "--rootdir", "TREE",
		"IMAGE"}),
	"ntfs": filled(4<<20, false, []string{"mkntfs", "-q", "-F", "-Q", "-s", "512", "IMAGE"},
		[]string{"ntfscp", "-q", "IMAGE", "TREE/f", "f"}),
	"ocfs2": mounted("ocfs2", 20<<20, "mkfs.ocfs2", "-q", "-F", "-M", "local", "-b", "1024", "-C",
		"4096", "-N", "1", "--fs-features=local", "IMAGE"),
	"gfs2": mounted("gfs2", 32<<20, "mkfs.gfs2", "-q", "-O", "-p", "lock_nolock", "-J", "8", "-j",
		"1", "IMAGE"),
}

// FileSystems lists the file systems of which Build makes images.
func FileSystems() []string {
	var names []string
	for name := range builders {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Build makes an image of a file system with the tree of the package comment. Files of the work
// are in a temporary folder below tmp.
func Build(ctx context.Context, fs, tmp string) (*Image, error) {
	build := builders[fs]
	if build == nil {
		return nil, fmt.Errorf("no image of %q can be made; name one, or a file system of %s", fs,
			strings.Join(FileSystems(), ", "))
	}
	dir, err := os.MkdirTemp(tmp, "fsward-image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "disk.img")
	if err := build(ctx, path); err != nil {
		return nil, fmt.Errorf("making an image of %s: %w", fs, err)
	}
	return Open(path)
}

// run runs a program that makes an image. Its error has the program's output.
func run(ctx context.Context, stdin string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	// The time that e2fsprogs takes for now: 2024-01-01.
	cmd.Env = append(os.Environ(), "E2FSPROGS_FAKE_TIME=1704067200", "LC_ALL=C.UTF-8", "TZ=UTC")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// create makes an empty image.
func create(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}
