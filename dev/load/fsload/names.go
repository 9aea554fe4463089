package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func mkdir(w *worker) error { return unix.Mkdir(w.folder()+fmt.Sprintf("/d%d", w.IntN(5)), 0o755) }

func rmdir(w *worker) error { return unix.Rmdir(w.folder() + fmt.Sprintf("/d%d", w.IntN(5))) }

// rmTree removes a directory and its contents. Other workers may add files meanwhile.
func rmTree(w *worker) error {
	dir := w.folder()
	if dir == w.dir || w.IntN(4) > 0 {
		return nil
	}
	return os.RemoveAll(dir)
}

func unlink(w *worker) error { return unix.Unlink(w.file()) }

// unlinkOpen makes an orphan: an open inode without a name.
func unlinkOpen(w *worker) error {
	path := w.file()
	return w.open(path, 0, func(fd int) error {
		if err := unix.Unlink(path); err != nil {
			return err
		}
		_, err := unix.Pwrite(fd, w.text(1+w.size(1<<14)), 0)
		return errors.Join(err, unix.Fsync(fd))
	})
}

func rename(w *worker) error { return unix.Rename(w.file(), w.file()) }

func renameFolder(w *worker) error {
	return unix.Rename(fmt.Sprintf("%s/d%d", w.folder(), w.IntN(5)),
		fmt.Sprintf("%s/d%d", w.folder(), w.IntN(5)))
}

// renameFlags renames with one of the flags of renameat2: it exchanges two names, replaces no
// existing name, or leaves a whiteout.
func renameFlags(w *worker) error {
	flags := []uint{unix.RENAME_EXCHANGE, unix.RENAME_NOREPLACE, unix.RENAME_WHITEOUT}
	return unix.Renameat2(unix.AT_FDCWD, w.file(), unix.AT_FDCWD, w.file(), flags[w.IntN(len(flags))])
}

func link(w *worker) error { return unix.Link(w.file(), w.file()) }

// linkOften gives a file 40 names in one directory, too many for one inode_ref item of Btrfs.
func linkOften(w *worker) error {
	from, dir := w.file(), w.folder()
	for i := range 40 {
		name := fmt.Sprintf("%s/link-%d-%d-%s", dir, w.IntN(4), i, strings.Repeat("x", w.IntN(200)))
		if err := unix.Link(from, name); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// unlinkOften removes names that linkOften made.
func unlinkOften(w *worker) error {
	names, err := filepath.Glob(fmt.Sprintf("%s/link-%d-*", w.folder(), w.IntN(4)))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := unix.Unlink(name); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

func symlink(w *worker) error {
	return unix.Symlink(strings.Repeat("../target", 1+w.IntN(100)), w.file())
}

func mknod(w *worker) error {
	kinds := []uint32{unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFBLK, unix.S_IFREG}
	return unix.Mknod(w.file(), kinds[w.IntN(len(kinds))]|0o600,
		int(unix.Mkdev(uint32(w.IntN(300)), uint32(w.IntN(300)))))
}

// unnamed makes a file without a name (O_TMPFILE), and sometimes links it.
func unnamed(w *worker) error {
	fd, err := unix.Open(w.folder(), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, w.text(w.size(1<<14)))
	if err == nil && w.IntN(2) == 0 {
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, w.file(),
			unix.AT_SYMLINK_FOLLOW)
	}
	return errors.Join(err, unix.Close(fd))
}

func setxattr(w *worker) error {
	return unix.Lsetxattr(w.file(), fmt.Sprintf("user.x%d", w.IntN(6)), w.text(w.size(3000)), 0)
}

func removexattr(w *worker) error {
	return unix.Lremovexattr(w.file(), fmt.Sprintf("user.x%d", w.IntN(6)))
}

// acl sets an access control list with one user, as setfacl -m u:1000:rw does, or a default one on
// a folder.
func acl(w *worker) error {
	// struct posix_acl_xattr_header and entries, sorted by tag: include/uapi/linux/posix_acl_xattr.h.
	value := []byte{
		2, 0, 0, 0, // version
		1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, // ACL_USER_OBJ
		2, 0, 6, 0, byte(w.IntN(4)), 4, 0, 0, // ACL_USER
		4, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, // ACL_GROUP_OBJ
		0x10, 0, 6, 0, 0xff, 0xff, 0xff, 0xff, // ACL_MASK
		0x20, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, // ACL_OTHER
	}
	if w.IntN(3) == 0 {
		return unix.Setxattr(w.folder(), "system.posix_acl_default", value, 0)
	}
	return unix.Setxattr(w.file(), "system.posix_acl_access", value, 0)
}

func chmod(w *worker) error { return unix.Chmod(w.file(), w.Uint32N(0o1000)) }

func chown(w *worker) error { return unix.Lchown(w.file(), w.IntN(2000), w.IntN(2000)) }

func touch(w *worker) error {
	at := unix.NsecToTimeval(time.Now().Add(-time.Duration(w.IntN(1e9)) * time.Second).UnixNano())
	return unix.Lutimes(w.file(), []unix.Timeval{at, at})
}

// Flags of chattr, from include/uapi/linux/fs.h.
const (
	flagCompress = 0x4
	flagSync     = 0x8
	flagAppend   = 0x20
	flagNoDump   = 0x40
	flagNoCOW    = 0x800000
)

// chattr sets a flag on a new file, since the kernel allows some flags only on an empty file. It
// clears the append-only flag again, so that other operations can remove the file.
func chattr(w *worker) error {
	flags := []int{flagCompress, flagSync, flagNoDump, flagNoCOW, flagAppend}
	return w.open(w.file(), unix.O_CREAT|unix.O_EXCL, func(fd int) error {
		flag := flags[w.IntN(len(flags))]
		if err := unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flag); err != nil {
			return err
		}
		_, err := unix.Write(fd, w.text(w.size(1<<17)))
		if flag == flagAppend {
			err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0))
		}
		return err
	})
}
