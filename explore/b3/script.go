package b3

import (
	"fmt"
	"strings"
)

// Script returns a test in the style of xfstests that runs the workload on a file system, drops
// what was not made persistent (with dm-flakey), and prints what is left. about says what is wrong.
func (w Workload) Script(fs, about string) string {
	var b strings.Builder
	b.WriteString("#! /bin/bash\n# " + w.String() + "\n#\n")
	for line := range strings.Lines(strings.TrimSpace(about)) {
		b.WriteString("# " + strings.TrimRight(line, "\n") + "\n")
	}
	b.WriteString(`. ./common/preamble
_begin_fstest auto quick log

_cleanup()
{
	_cleanup_flakey
	cd /
	rm -r -f $tmp.*
}

. ./common/filter
. ./common/dmflakey
`)
	if w.has(Setxattr, Removexattr) {
		b.WriteString(". ./common/attr\n_require_attrs\n")
	}
	if w.has(Exchange) {
		b.WriteString(". ./common/renameat2\n_require_renameat2 exchange\n")
	}
	fmt.Fprintf(&b, `
_supported_fs %s
_require_scratch
_require_dm_target flakey

_scratch_mkfs >> $seqres.full 2>&1
_require_metadata_journaling $SCRATCH_DEV
_init_flakey
_mount_flakey

`, fs)
	orphans := make(orphanPaths)
	for i, s := range w {
		if line := s.shell(i, orphans); line != "" {
			b.WriteString(line + "\n")
		}
	}
	b.WriteString(`
_flakey_drop_and_remount
cd $SCRATCH_MNT
find . ! -name lost+found -printf '%p %y %m links %n %l\n' | sort
find . -type f -exec md5sum {} + | sort -k 2
cd /
_unmount_flakey
_check_scratch_fs $FLAKEY_DEV
status=0
exit
`)
	return b.String()
}

// has reports whether the workload has one of some verbs.
func (w Workload) has(verbs ...Verb) bool {
	for _, s := range w {
		for _, v := range verbs {
			if s.Verb == v {
				return true
			}
		}
	}
	return false
}

// shell returns the step number i of a workload as a line of shell; "": it has no effect there,
// because xfs_io opens and closes the file for each operation.
func (s Step) shell(i int, orphans orphanPaths) string {
	name, to := orphans.path(s.Name), orphans.path(s.To)
	switch s.Verb {
	case Orphan:
		return orphans.add(s.Name)
	case Close:
		return orphans.close(s.Name)
	case Chmod:
		return fmt.Sprintf("chmod %o %s", s.Perm, name)
	case Chattr:
		return "$CHATTR_PROG =" + s.To + " " + name
	case Clone:
		return fmt.Sprintf("$XFS_IO_PROG -f -c \"reflink %s %d %d %d\" %s > /dev/null", name, s.Range.Off,
			s.Len, s.Range.Len, to)
	case Creat:
		return "touch " + name
	case Mkdir:
		return "mkdir " + name
	case Rmdir:
		return "rmdir " + name
	case Mknod:
		return "mknod " + name + " p"
	case Link:
		return "ln " + name + " " + to
	case Symlink:
		return "ln -s " + s.To + " " + name
	case Unlink, Remove:
		return "rm -f " + name
	case Rename:
		return "mv -T " + name + " " + to
	case Exchange:
		return "$here/src/renameat2 -x " + name + " " + to
	case Setxattr:
		return "$SETFATTR_PROG -n " + s.Attribute() + " -v 1 " + name
	case Removexattr:
		return "$SETFATTR_PROG -x " + s.Attribute() + " " + name
	case Subvolume:
		return "$BTRFS_UTIL_PROG subvolume create " + name + " > /dev/null"
	case Snapshot:
		return "$BTRFS_UTIL_PROG subvolume snapshot " + name + " " + to + " > /dev/null"
	case DeleteSubvolume:
		return "$BTRFS_UTIL_PROG subvolume delete " + name + " > /dev/null"
	case Sync:
		return "sync"
	case DropCaches:
		return "echo 3 > /proc/sys/vm/drop_caches"
	}
	flags, commands := s.xfsIO(i)
	if len(commands) == 0 {
		return ""
	}
	line := "$XFS_IO_PROG " + flags
	for _, c := range commands {
		line += fmt.Sprintf("-c %q ", c)
	}
	return line + name + " > /dev/null"
}

func shellPath(name string) string { return "$SCRATCH_MNT/" + strings.TrimPrefix(name, "/") }

// orphanPaths are the descriptors of the shell that keep files without a name, by the name that
// they had.
type orphanPaths map[string]int

// path returns how a command names a file.
func (o orphanPaths) path(name string) string {
	if fd, ok := o[name]; ok {
		return fmt.Sprintf("/dev/fd/%d", fd)
	}
	return shellPath(name)
}

// add returns the line that opens a file and removes its name.
func (o orphanPaths) add(name string) string {
	fd := 10 // bash uses those below for itself
	for _, used := range o {
		fd = max(fd, used+1)
	}
	path := shellPath(name)
	o[name] = fd
	return fmt.Sprintf("exec %d<>%s; rm -f %[2]s", fd, path)
}

// close returns the line that closes a file without a name; "": it is none.
func (o orphanPaths) close(name string) string {
	fd, ok := o[name]
	if !ok {
		return ""
	}
	delete(o, name)
	return fmt.Sprintf("exec %d>&-", fd)
}

// xfsIO returns the step number i as commands of xfs_io, with the flags that it needs; nil: it is
// none. A mapped write needs a file that is large enough already.
func (s Step) xfsIO(i int) (flags string, commands []string) {
	off, n := s.Range.Off, s.Range.Len
	one := func(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }
	mapped := fmt.Sprintf("mmap -rw 0 %d", off+n)
	store := fmt.Sprintf("mwrite -S %#02x %d %d", i%255+1, off, n)
	start := off / 4096 * 4096 // msync(2) takes whole pages
	flush := fmt.Sprintf("msync -s %d %d", start, off+n-start)
	switch s.Verb {
	case Truncate:
		return "", one("truncate %d", s.Len)
	case Write:
		return "-f ", one("pwrite -S %#02x %d %d", i%255+1, off, n)
	case Dwrite:
		return "-f -d ", one("pwrite -S %#02x %d %d", i%255+1, off, n)
	case Mmapstore:
		return "", []string{mapped, store}
	case Mmapwrite:
		return "", []string{mapped, store, flush}
	case Msync:
		return "", []string{mapped, flush}
	case Falloc:
		command := map[Mode]string{Allocate: "falloc", AllocateKeep: "falloc -k", Zero: "fzero",
			ZeroKeep: "fzero -k", PunchKeep: "fpunch", Collapse: "fcollapse", Insert: "finsert"}[s.Mode]
		return "", one("%s %d %d", command, off, n)
	case SyncFileRange:
		return "", one("sync_range -abw %d %d", off, n)
	case Fsync:
		return "", one("fsync")
	case Fdatasync:
		return "", one("fdatasync")
	}
	return "", nil
}
