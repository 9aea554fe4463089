package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// Flags of a file, as linux/fs.h and chattr(1) have them.
const (
	Compressed   = 0x4      // FS_COMPR_FL, c
	Synchronous  = 0x8      // FS_SYNC_FL, S
	Immutable    = 0x10     // FS_IMMUTABLE_FL, i
	AppendOnly   = 0x20     // FS_APPEND_FL, a
	NoDump       = 0x40     // FS_NODUMP_FL, d
	NoAccessTime = 0x80     // FS_NOATIME_FL, A
	NoCOW        = 0x800000 // FS_NOCOW_FL, C

	// Forbidding are those of them that forbid changes, and KnownFlags are all of them.
	Forbidding = Immutable | AppendOnly
	KnownFlags = Compressed | Synchronous | Forbidding | NoDump | NoAccessTime | NoCOW
)

// Properties of a directory of Btrfs, as bits of Entry.Flags beside KnownFlags. FS_IOC_SETFLAGS has
// other uses for these bits, and shows none of them.
const (
	ReadOnly    = 1 << 31 // the root directory of a subvolume that is read-only
	Placeholder = 1 << 30 // in a snapshot: a directory in the place of a subvolume of its source
)

// Setflags sets KnownFlags of a regular file or directory to flags, and leaves its other flags as
// they are (ioctl(2), FS_IOC_SETFLAGS). Value has those of KnownFlags that it has afterwards. It
// fails with EOPNOTSUPP for what is no regular file or directory, as chattr(1) does.
func Setflags(path string, flags uint32) Op {
	return Op{Code: opSetflags, s: path, a: uint64(flags)}
}

// setFlags performs Setflags.
func setFlags(o *Op) (value uint64, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(o.s, &st); err != nil {
		return 0, err
	}
	switch {
	case o.a&^KnownFlags != 0:
		return 0, unix.EINVAL
	case st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return 0, unix.EOPNOTSUPP
	}
	f, err := os.OpenFile(o.s, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fd := int(f.Fd())
	was, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return 0, err
	}
	err = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(was&^KnownFlags|uint32(o.a)))
	return uint64(flagsOf(f)), err
}

// flagsOf returns those of KnownFlags that an open file has; 0 if its file system has no flags.
func flagsOf(f opened) uint32 {
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return 0
	}
	return flags & KnownFlags
}
