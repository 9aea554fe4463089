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
	fmt.Fprintf(&b, `
_supported_fs %s
_require_scratch
_require_dm_target flakey

_scratch_mkfs >> $seqres.full 2>&1
_require_metadata_journaling $SCRATCH_DEV
_init_flakey
_mount_flakey

`, fs)
	for i, s := range w {
		if line := s.shell(i); line != "" {
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
func (s Step) shell(i int) string {
	name, to := shellPath(s.Name), shellPath(s.To)
	switch s.Verb {
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
	case Setxattr:
		return "$SETFATTR_PROG -n user.fsward -v 1 " + name
	case Removexattr:
		return "$SETFATTR_PROG -x user.fsward " + name
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
			ZeroKeep: "fzero -k", PunchKeep: "fpunch"}[s.Mode]
		return "", one("%s %d %d", command, off, n)
	case Fsync:
		return "", one("fsync")
	case Fdatasync:
		return "", one("fdatasync")
	}
	return "", nil
}
