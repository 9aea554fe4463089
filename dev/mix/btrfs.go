package mix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// onceOps are operations on whole objects.
var onceOps = []op{
	{name: "snapshot", fs: "btrfs", run: snapshot},
	{name: "snapshot-and-write", fs: "btrfs", run: snapshotAndWrite},
	{name: "delete-volume", fs: "btrfs", run: deleteVolume},
	{name: "balance-metadata", fs: "btrfs", run: tool("balance start -m")},
	{name: "balance-data", fs: "btrfs", run: tool("balance start -d")},
	{name: "defragment", fs: "btrfs", run: tool("filesystem defragment -r")},
	{name: "quota", fs: "btrfs", run: tool("quota enable")},
	{name: "resize", fs: "btrfs", run: tool("filesystem resize -1g")},
	{name: "remove-file", run: unlink},
	{name: "truncate-file", run: emptyFile},
	{name: "remove-all", run: removeAll},
	{name: "chown-all", run: chownAll},
	{name: "rewrite-file", run: rewriteFile},
}

// tool returns an operation that runs a command of the btrfs program. It may fail.
func tool(words string) func(*world, *Step) error {
	return func(w *world, _ *Step) error {
		_ = btrfs(append(strings.Fields(words), w.dir)...)
		return nil
	}
}

// btrfs runs the btrfs program, for at most two minutes.
func btrfs(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "btrfs", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("btrfs %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// subvolume makes an empty subvolume, seldom: it is a transaction of its own.
func subvolume(w *world, s *Step) error {
	if w.IntN(32) > 0 {
		return nil
	}
	w.made++
	parent := w.volumes[w.choose(len(w.volumes), s.On)]
	path := filepath.Join(parent, fmt.Sprintf("p%dv%d", w.phase, w.made))
	if err := volumeIoctl(subvolCreate, path, ""); err != nil {
		return err
	}
	w.volumes, w.dirs = append(w.volumes, path), append(w.dirs, path)
	return nil
}

// snapshot takes a snapshot of the root.
func snapshot(w *world, _ *Step) error {
	w.made++
	path := filepath.Join(w.dir, fmt.Sprintf("p%ds%d", w.phase, w.made))
	if err := volumeIoctl(snapCreate, path, w.dir); err != nil {
		return err
	}
	w.volumes = append(w.volumes, path)
	return nil
}

// snapshotAndWrite changes all files after a snapshot.
func snapshotAndWrite(w *world, s *Step) error {
	return errors.Join(snapshot(w, s), chownAll(w, s))
}

func deleteSubvolume(w *world, s *Step) error {
	if w.IntN(32) > 0 {
		return nil
	}
	return deleteVolume(w, s)
}

// deleteVolume deletes the newest subvolume or snapshot.
func deleteVolume(w *world, _ *Step) error {
	if len(w.volumes) < 2 {
		return unix.ENOENT
	}
	last := w.volumes[len(w.volumes)-1]
	w.volumes = w.volumes[:len(w.volumes)-1]
	return volumeIoctl(snapDestroy, last, "")
}

// qgroup makes a quota group, seldom, and puts a subvolume into it.
func qgroup(w *world, _ *Step) error {
	if w.IntN(16) > 0 {
		return nil
	}
	w.made++
	group := fmt.Sprintf("1/%d", w.phase*100_000+w.made)
	if btrfs("qgroup", "create", group, w.dir) == nil {
		_ = btrfs("qgroup", "assign", "--no-rescan", "0/5", group, w.dir)
	}
	return nil
}

// clone shares a block of a file with another place.
func clone(w *world, s *Step) error {
	return share(w, s, func(src, dst int, off int64) error {
		return unix.IoctlFileCloneRange(dst, &unix.FileCloneRange{Src_fd: int64(src),
			Src_length: block, Dest_offset: uint64(off)})
	})
}

// dedupe writes the contents of the first block of a file elsewhere, and shares it.
func dedupe(w *world, s *Step) error {
	return share(w, s, func(src, dst int, off int64) error {
		b := make([]byte, block)
		if _, err := unix.Pread(src, b, 0); err != nil {
			return err
		}
		if _, err := unix.Pwrite(dst, b, off); err != nil {
			return err
		}
		return unix.IoctlFileDedupeRange(src, &unix.FileDedupeRange{Src_length: block,
			Info: []unix.FileDedupeRangeInfo{{Dest_fd: int64(dst), Dest_offset: uint64(off)}}})
	})
}

// share opens a file that has a first block, and another one with a place for it.
func share(w *world, s *Step, do func(src, dst int, off int64) error) error {
	from, err := w.file("one")
	if err != nil {
		return err
	}
	to, err := w.file(s.On)
	if err != nil {
		return err
	}
	return open(from, 0, func(src int) error {
		return open(to, 0, func(dst int) error {
			if err := fill(src); err != nil {
				return err
			}
			return do(src, dst, w.offset(to, s.At)+block)
		})
	})
}

// fill makes sure that a file has a first block.
func fill(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Size >= block {
		return err
	}
	_, err := unix.Pwrite(fd, []byte(strings.Repeat("x", block)), 0)
	return err
}

func emptyFile(w *world, _ *Step) error {
	path, err := w.file("one")
	if err != nil {
		return err
	}
	return unix.Truncate(path, 0)
}

func removeAll(w *world, _ *Step) error {
	entries, err := os.ReadDir(w.dir)
	for _, e := range entries {
		if e.Name() != "lost+found" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(w.dir, e.Name())))
		}
	}
	w.files, w.dirs, w.volumes = nil, w.dirs[:1], w.volumes[:1]
	return err
}

func chownAll(w *world, _ *Step) error {
	for _, path := range w.files {
		if err := unix.Lchown(path, 7, 7); err != nil && !harmless(err) {
			return err
		}
	}
	return nil
}

// rewriteFile writes the first file anew in one piece, as large as it is up to 64 MiB.
func rewriteFile(w *world, _ *Step) error {
	path, err := w.file("one")
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1<<20)
	for i := int64(0); i < min(info.Size(), 64<<20) && err == nil; i += 1 << 20 {
		_, err = f.WriteAt(b, i)
	}
	return errors.Join(err, f.Close())
}
