package guest

import "strings"

// A FileSystem is one that a guest can make, mount and, where there is a program for it, check. The guest loads its module when it is
// mounted. guest/filesystems.sh says where the programs are from.
type FileSystem struct {
	Name    string   // of its kind
	Type    string   // what mount(2) calls it
	Options string   // for mount(2), beside those of who mounts it
	Make    []string // the command that makes it; the device follows
	Check   []string // the command that checks it and changes nothing, status 0 if it is sound; the device follows. nil: there is none
	Bytes   uint64   // a disk on which Make succeeds
	Needs   string   // the kernels that have it, see In; empty: all
	Flat    bool     // it has neither folders nor fsync(2)
	Names   int      // longest name; 0: 255
}

// In tells whether the kernel of a release, as uname(2) says it, has the file system.
func (f *FileSystem) In(release string) bool {
	switch f.Needs {
	case generic:
		return !strings.Contains(release, "cloud")
	case linux6_12:
		return !strings.HasPrefix(release, "6.1.")
	}
	return true
}

// What a file system may need of Debian's kernels.
const (
	generic   = "generic" // not a cloud kernel: guest/build.sh DIR amd64, or 6.12-amd64
	linux6_12 = "6.12"    // guest/build.sh DIR 6.12-cloud-amd64, or 6.12-amd64
)

const mib = 1 << 20

// FileSystems are the file systems of the explorer's guest.
func FileSystems() []FileSystem {
	e2fsck := []string{"e2fsck", "-fn"}
	fat := []string{"fsck.fat", "-n"}
	return []FileSystem{
		{Name: "ext2", Type: "ext2", Make: []string{"mke2fs", "-q", "-F", "-t", "ext2"}, Check: e2fsck, Bytes: 16 * mib},
		{Name: "ext3", Type: "ext3", Make: []string{"mke2fs", "-q", "-F", "-t", "ext3"}, Check: e2fsck, Bytes: 16 * mib},
		{Name: "ext4", Type: "ext4", Make: []string{"mke2fs", "-q", "-F", "-t", "ext4"}, Check: e2fsck, Bytes: 16 * mib},
		{Name: "btrfs", Type: "btrfs", Make: []string{"mkfs.btrfs", "-q", "-f"},
			Check: []string{"btrfs", "check", "--readonly"}, Bytes: 128 * mib},
		{Name: "xfs", Type: "xfs", Make: []string{"mkfs.xfs", "-q", "-f"}, Check: []string{"xfs_repair", "-n"}, Bytes: 300 * mib},
		{Name: "vfat", Type: "vfat", Make: []string{"mkfs.fat"}, Check: fat, Bytes: 16 * mib},
		{Name: "msdos", Type: "msdos", Make: []string{"mkfs.fat"}, Check: fat, Bytes: 16 * mib, Names: 8},
		{Name: "exfat", Type: "exfat", Make: []string{"mkfs.exfat"}, Check: []string{"fsck.exfat", "-n"}, Bytes: 16 * mib},
		{Name: "udf", Type: "udf", Make: []string{"mkudffs", "-b", "512"}, Bytes: 16 * mib, Names: 254},
		{Name: "ntfs3", Type: "ntfs3", Make: []string{"mkntfs", "-Q", "-q", "-F"},
			Check: []string{"ntfsfix", "-n"}, Bytes: 16 * mib, Needs: linux6_12},
		{Name: "f2fs", Type: "f2fs", Make: []string{"mkfs.f2fs", "-q", "-f"},
			Check: []string{"fsck.f2fs", "--dry-run"}, Bytes: 64 * mib, Needs: generic},
		{Name: "jfs", Type: "jfs", Make: []string{"jfs_mkfs", "-q"}, Check: []string{"jfs_fsck", "-n"}, Bytes: 16 * mib, Needs: generic},
		{Name: "reiserfs", Type: "reiserfs", Make: []string{"mkreiserfs", "-q", "-f"},
			Check: []string{"reiserfsck", "--check", "-q", "-y"}, Bytes: 64 * mib, Needs: generic},
		{Name: "nilfs2", Type: "nilfs2", Make: []string{"mkfs.nilfs2", "-q", "-f"}, Bytes: 160 * mib, Needs: generic},
		{Name: "gfs2", Type: "gfs2", Make: []string{"mkfs.gfs2", "-q", "-O", "-p", "lock_nolock", "-j", "1", "-J", "8"},
			Check: []string{"fsck.gfs2", "-n", "-q"}, Bytes: 64 * mib, Needs: generic},
		{Name: "ocfs2", Type: "ocfs2", Make: []string{"mkfs.ocfs2", "-q", "-F", "-x", "-M", "local"},
			Check: []string{"fsck.ocfs2", "-f", "-n"}, Bytes: 64 * mib, Needs: generic},
		{Name: "minix", Type: "minix", Make: []string{"mkfs.minix", "-3"},
			Check: []string{"fsck.minix", "-f"}, Bytes: 16 * mib, Needs: generic, Names: 60},
		{Name: "hfs", Type: "hfs", Make: []string{"hformat", "-f"}, Bytes: 16 * mib, Needs: generic, Names: 31},
		{Name: "bfs", Type: "bfs", Make: []string{"mkfs.bfs"}, Bytes: 16 * mib, Needs: generic, Flat: true, Names: 14},
	}
}
