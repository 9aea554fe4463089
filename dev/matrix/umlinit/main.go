// Command umlinit is the first process of a user-mode Linux that the corruption matrix boots. For
// each cell it alters the disks, mounts the file system, looks up all names, writes the result and
// restores the disks. Start reading at run.
//
//	umlinit DIR FIRST FS
//
// DIR on the host has the file "cells" (see readCell), the empty directories "dev" and "mnt", and
// the file "results", to which umlinit appends a line for each cell. It skips the first FIRST
// cells. FS is the file system type for mount. The disks are /dev/ubda, /dev/ubdb and so on.
// interp.Locate finds the disk of a patch's address.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/interp"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Println("umlinit:", err)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

func run(dir, first, typ string) error {
	skip, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	m, err := newMounter(dir, typ)
	if err != nil {
		return err
	}
	cells, err := os.Open(filepath.Join(dir, "cells"))
	if err != nil {
		return err
	}
	results, err := os.OpenFile(filepath.Join(dir, "results"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		patches, err := readCell(cells)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if i < skip {
			continue
		}
		verdict, message, err := m.try(patches)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(results, "%d\t%s\t%s\n", i, verdict,
			strings.ToValidUTF8(message, "?")); err != nil {
			return err
		}
	}
}

// A mounter alters and mounts disks, and restores them.
type mounter struct {
	mnt, typ string
	disks    []string
	mounted  []string // the disks that belong to the file system
	before   []byte   // contents of the disk if a mount replays a journal; else nil
}

// newMounter mounts devtmpfs and finds the disks.
func newMounter(dir, typ string) (*mounter, error) {
	m := &mounter{mnt: filepath.Join(dir, "mnt"), typ: typ}
	dev := filepath.Join(dir, "dev")
	if err := unix.Mount("devtmpfs", dev, "devtmpfs", 0, ""); err != nil {
		return nil, fmt.Errorf("devtmpfs: %w", err)
	}
	var err error
	if m.disks, err = filepath.Glob(filepath.Join(dev, "ubd?")); err != nil {
		return nil, err
	}
	m.mounted = m.disks
	if typ == "ext3" {
		if m.before, err = os.ReadFile(m.disks[0]); err != nil {
			return nil, err
		}
	}
	if len(m.disks) > 1 {
		m.mounted, err = members(m.disks)
	}
	return m, err
}

// try mounts the disks with patches, looks up all names, and restores the disks.
func (m *mounter) try(patches []patch) (verdict, message string, err error) {
	old, err := exchange(m.disks, patches)
	if err != nil {
		return "", "", err
	}
	kernelLog()
	verdict, message = mountAndList(m.mounted, m.mnt, m.typ)
	if log := complaint(kernelLog()); log != "" {
		message = log
		if verdict == "ok" {
			verdict = "errors"
		}
	}
	if _, err := exchange(m.disks, old); err != nil {
		return "", "", err
	}
	if m.before != nil {
		err = putBack(m.disks[0], m.before)
	}
	return verdict, message, err
}

type patch struct {
	addr uint64
	data []byte
}

// readCell reads the patches of one cell, little-endian: their number (4 bytes), and for each patch
// its address (8 bytes), its length (4 bytes) and its data. At the end it returns io.EOF.
func readCell(r io.Reader) ([]patch, error) {
	var count uint32
	if err := binary.Read(r, binary.LittleEndian, &count); err != nil {
		return nil, err
	}
	patches := make([]patch, count)
	for i := range patches {
		var head struct {
			Addr uint64
			Size uint32
		}
		if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
			return nil, err
		}
		patches[i] = patch{head.Addr, make([]byte, head.Size)}
		if _, err := io.ReadFull(r, patches[i].data); err != nil {
			return nil, err
		}
	}
	return patches, nil
}

// exchange writes patches and returns the old contents. It closes the devices, which empties their
// page caches: mount reads the superblock through them.
func exchange(disks []string, patches []patch) (old []patch, err error) {
	for _, p := range patches {
		i, off := interp.Locate(p.addr)
		was := patch{p.addr, make([]byte, len(p.data))}
		if i >= len(disks) {
			return nil, fmt.Errorf("there is no disk %d", i)
		}
		f, err := os.OpenFile(disks[i], os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		_, err = f.ReadAt(was.data, int64(off))
		if err == nil {
			_, err = f.WriteAt(p.data, int64(off))
		}
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return nil, err
		}
		old = append(old, was)
	}
	return old, nil
}

// putBack restores the contents that a disk had before the mount.
func putBack(disk string, before []byte) error {
	f, err := os.OpenFile(disk, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	now := make([]byte, 64<<10)
	for off := 0; off < len(before) && err == nil; off += len(now) {
		was := before[off:min(off+len(now), len(before))]
		if _, err = f.ReadAt(now[:len(was)], int64(off)); err == nil &&
			!bytes.Equal(now[:len(was)], was) {
			_, err = f.WriteAt(was, int64(off))
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// members returns the disks that have a Btrfs superblock. The other disks are blank, or the file
// system has removed them.
func members(disks []string) ([]string, error) {
	const magicAt, magic = 65600, "_BHRfS_M"
	var list []string
	for _, d := range disks {
		f, err := os.Open(d)
		if err != nil {
			return nil, err
		}
		b := make([]byte, len(magic))
		_, err = f.ReadAt(b, magicAt)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		if string(b) == magic {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no disk has a file system")
	}
	return list, nil
}

// mountAndList mounts the file system read-only and looks up every name in it.
func mountAndList(disks []string, mnt, typ string) (verdict, message string) {
	var options []string
	for _, d := range disks[1:] {
		options = append(options, "device="+d)
	}
	if len(options) > 0 {
		// The kernel would remember the devices and their generations.
		defer func() { _ = exec.Command("btrfs", "device", "scan", "--forget").Run() }()
	}
	if err := unix.Mount(disks[0], mnt, typ, unix.MS_RDONLY|unix.MS_NOATIME,
		strings.Join(options, ",")); err != nil {
		return "refuses", err.Error()
	}
	var first error
	_ = filepath.WalkDir(mnt, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			_, err = os.Lstat(path)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("%s", strings.TrimPrefix(err.Error(), mnt))
		}
		return nil
	})
	if err := unix.Unmount(mnt, 0); err != nil && first == nil {
		first = err
	}
	if first != nil {
		return "errors", first.Error()
	}
	return "ok", ""
}

// kernelLog returns the kernel's messages since the last call.
func kernelLog() string {
	buf := make([]byte, 1<<18)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_CLEAR, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

var complaints = regexp.MustCompile(`(?m)(BTRFS (?:critical|error|warning).*|` +
	`EXT4-fs (?:error|warning).*|` +
	`JBD2: (?:Invalid|bad|recovery failed|IO error|journal).*|` +
	`WARNING: .*|BUG: .*|kernel BUG .*)$`)

// complaint returns the first message of the kernel that reports an error, or "".
func complaint(log string) string { return complaints.FindString(log) }
