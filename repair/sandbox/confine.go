package sandbox

import (
	"fmt"
	"os"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// confine leaves this process, which is in new namespaces, without devices and with one writable
// folder: folder, or one in memory. With user, the process is root of a user namespace only.
func confine(workBytes uint64, user bool, folder string) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if !user { // a user namespace has no right to open the host's devices anyway
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV
	}
	size := fmt.Sprintf("size=%d,mode=755", workBytes)
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"making mounts private", func() error {
			return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		}},
		{"making mounts read-only", func() error {
			return unix.MountSetattr(-1, "/", unix.AT_RECURSIVE, &attr)
		}},
		{"mounting /proc", func() error {
			return unix.Mount("proc", "/proc", "proc", unix.MS_NODEV|unix.MS_NOSUID, "")
		}},
		{"mounting " + Work, func() error {
			if folder == "" {
				return unix.Mount("none", Work, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, size)
			}
			if err := unix.Mount(folder, Work, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return err
			}
			writable := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			return unix.MountSetattr(-1, Work, unix.AT_RECURSIVE, &writable)
		}},
		{"making devices", func() error { return makeDevices(user) }},
		{"bounding core dumps", func() error {
			return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
		}},
		{"dropping capabilities", dropCapabilities},
		{"refusing sync(2)", refuseSync},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return nil
}

// devices are those that a repair program may use: all without effect.
var devices = map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9}

// makeDevices covers /dev with a folder that has only devices without effect.
func makeDevices(user bool) error {
	host := map[string]int{}
	for name := range devices {
		fd, err := unix.Open("/dev/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // a host without it
		}
		defer unix.Close(fd)
		host[name] = fd
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NOEXEC)
	if err := unix.Mount("none", "/dev", "tmpfs", flags, "size=64k,mode=755"); err != nil {
		return err
	}
	for name, fd := range host {
		path := "/dev/" + name
		if !user {
			if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, devices[name]))); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		source := fmt.Sprintf("/proc/self/fd/%d", fd)
		if err := unix.Mount(source, path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	return nil
}

// refuseSync lets sync(2) fail for the programs that this thread starts. It would write all that
// the host's file systems have in memory, and wait for that. Its callers cannot see a failure.
func refuseSync() error {
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Names: []string{"sync"}, Action: seccomp.ActionErrno}},
	}})
}

// dropCapabilities takes from the programs that this thread starts the rights with which root
// could leave the sandbox: to mount, to make devices, to load modules, to trace, and so on.
func dropCapabilities() error {
	keep := map[uintptr]bool{unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FOWNER: true,
		unix.CAP_FSETID: true}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep[c] {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err != nil && err != unix.EINVAL { // a kernel that does not know it
			return err
		}
	}
	return nil
}
