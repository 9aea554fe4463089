//go:build vmtest

package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
)

// image is the contents of a RAM disk.
type image []byte

func (b image) Size() uint64 { return uint64(len(b)) }

func (b image) ReadAt(p []byte, off int64) (int, error) { return copy(p, b[off:]), nil }

func (b image) WriteAt(p []byte, off int64) (int, error) { return copy(b[off:], p), nil }

// guardedStamp is a time stamp by which the inode of a file is found on a disk.
const guardedStamp = 0x12345678

// A guardedCase is a file system on a guarded disk, and a write that its guard must refuse.
type guardedCase struct {
	fs    string
	mib   uint64
	spoil func(b image) string // returns the shell command that does the write
	rule  string               // prefix of the rule that is violated
	says  string               // the kernel's message
	check []string             // command that checks the final contents of the disk
}

var guardedCases = []guardedCase{
	{"ext3", 16, wrongLinks, "ext3/", "Aborting journal", []string{"e2fsck", "-fn"}},
	{"btrfs", 128, overwriteTreeRoot, "btrfs/", "", []string{"btrfs", "check"}},
}

// wrongLinks returns a command that sets the number of links of an inode of ext3 to a wrong number,
// and makes the kernel commit it. The inode is found by its i_atime. The table of inodes comes
// before the journal, which may also hold the inode.
func wrongLinks(b image) string {
	const atime, links = 8, 26 // offsets of the fields in the inode
	at := bytes.Index(b, binary.LittleEndian.AppendUint32(nil, guardedStamp))
	return fmt.Sprintf(`printf '\005' | dd of=/dev/fswrd0 bs=1 seek=%d conv=notrunc 2>/dev/null
		touch -a /mnt/g/f; ! sync.coreutils -f /mnt/g/f`, at-atime+links)
}

// overwriteTreeRoot returns a command that overwrites the root of the data relocation tree of
// Btrfs. Nothing has changed that tree since mkfs, and each commit needs it.
func overwriteTreeRoot(b image) string {
	const (
		nodeSize   = 16 << 10
		superblock = 64 << 10
		dataReloc  = -9 // BTRFS_DATA_RELOC_TREE_OBJECTID
		// Offsets of the fields in the header of a node. The superblock has the FSID at the same offset.
		fsid, generation, owner = 32, 80, 88
	)
	block, newest := 0, uint64(0)
	for at := 1 << 20; at < len(b); at += nodeSize {
		if bytes.Equal(b[at+fsid:at+fsid+16], b[superblock+fsid:superblock+fsid+16]) &&
			int64(binary.LittleEndian.Uint64(b[at+owner:])) == dataReloc &&
			binary.LittleEndian.Uint64(b[at+generation:]) > newest {
			block, newest = at, binary.LittleEndian.Uint64(b[at+generation:])
		}
	}
	return fmt.Sprintf(`! dd if=/dev/zero of=/dev/fswrd0 bs=4096 seek=%d count=1 oflag=direct \
		conv=notrunc 2>/dev/null`, block/4096)
}

// TestGuestGuardedDisk checks that a file system works on a guarded disk as on any other, and that
// a refused write fails in the guest and is not on the disk: a commit of ext3 whose inode has a
// wrong number of links, after which the kernel aborts the journal, and a block of Btrfs that the
// last commit needs.
func TestGuestGuardedDisk(t *testing.T) {
	for _, c := range guardedCases {
		t.Run(c.fs, func(t *testing.T) {
			inGuest(t, 3*time.Minute, func(ctx context.Context, m *machine.Machine) error {
				return (&guardedRig{guardedCase: c, ctx: ctx, m: m}).test(t)
			})
		})
	}
}

// guardedRig runs one case in a guest.
type guardedRig struct {
	guardedCase
	ctx    context.Context
	m      *machine.Machine
	kernel string // the kernel's log during the commands so far
}

// sh runs a shell command that must succeed.
func (r *guardedRig) sh(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	e, err := r.m.Run(r.ctx, agent.Command{Args: []string{"sh", "-c", line}, Timeout: time.Minute})
	r.kernel += e.Kernel
	if err == nil && e.Code != 0 {
		err = fmt.Errorf("%s: %d %s %s", line, e.Code, e.Stderr, e.Kernel)
	}
	return err
}

// makeDisk makes the file system with a file on disk 0, and returns its contents.
func (r *guardedRig) makeDisk() (image, error) {
	disk := make(image, r.mib<<20)
	return disk, errors.Join(
		r.m.MakeDisk(r.ctx, 0, r.mib<<20),
		r.sh("mkfs.%s -q /dev/fswrd0 && mkdir -p /mnt/g && mount -t %[1]s /dev/fswrd0 /mnt/g", r.fs),
		r.sh("echo kept >/mnt/g/f; touch -d @%d /mnt/g/f; umount /mnt/g", guardedStamp),
		r.m.ReadDisk(r.ctx, 0, disk.Size(), disk))
}

// guardedLoad writes to the mounted file system and syncs it.
const guardedLoad = `for i in 1 2 3 4 5; do
		mkdir /mnt/g/d$i; cp /bin/chrt /mnt/g/d$i; sync.coreutils -f /mnt/g
	done
	mv /mnt/g/d1 /mnt/g/d2/; rm -r /mnt/g/d3; sync.coreutils -f /mnt/g`

// test guards the disk, writes to it, does the write that the guard must refuse, and checks the
// disk.
func (r *guardedRig) test(t *testing.T) error {
	before, err := r.makeDisk()
	if err != nil {
		return err
	}
	guard := &Guard{Log: zaptest.NewLogger(t)}
	g, err := guard.Begin([]explore.GuardedDisk{{Name: "/dev/fswrd0", Base: before}})
	if err != nil {
		return err
	}
	defer g.Close()
	bios := 0
	allow := func(bio *ramdisk.Record) unix.Errno { bios++; return g.Allow(0, bio) }
	err = errors.Join(r.m.Log(r.ctx, 0, true), r.m.Guard(r.ctx, 0, allow),
		r.sh("mount -t %s /dev/fswrd0 /mnt/g", r.fs))
	begin := time.Now()
	if err = errors.Join(err, r.sh("%s", guardedLoad)); err != nil {
		return err
	}
	if refused := g.Refused(); refused != nil || bios < 20 {
		t.Errorf("%d bios of a sound load, refused: %v", bios, refused)
	}
	t.Logf("the guard was asked about %d bios in %v", bios, time.Since(begin))
	r.kernel = ""
	if err := r.sh("%s", r.spoil(before)); err != nil {
		t.Errorf("the refused write does not fail in the guest: %v", err)
	}
	refused := g.Refused()
	if refused == nil || !strings.HasPrefix(refused.Kind, "refused: "+r.rule) ||
		!strings.Contains(r.kernel, r.says) {
		t.Errorf("refused: %v; the kernel says %q", refused, r.kernel)
	}
	t.Logf("%v\n%s", refused, r.kernel)
	_ = r.sh("umount /mnt/g") // fails: dirty blocks cannot be written
	after := make(image, r.mib<<20)
	err = errors.Join(r.m.Guard(r.ctx, 0, nil), r.m.Log(r.ctx, 0, false),
		r.m.ReadDisk(r.ctx, 0, after.Size(), after), r.m.RemoveDisk(r.ctx, 0))
	if err != nil {
		return err
	}
	return r.checkDisk(t, after)
}

// checkDisk replays the journal of an image, if it has one, and checks that the image is sound.
func (r *guardedRig) checkDisk(t *testing.T, disk image) error {
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, disk, 0o600); err != nil {
		return err
	}
	if r.fs == "ext3" {
		out, err := exec.Command("e2fsck", "-E", "journal_only", "-p", path).CombinedOutput()
		if err != nil && exitCode(err) != 1 {
			t.Errorf("replaying the journal: %v: %s", err, out)
		}
	}
	out, err := exec.Command(r.check[0], append(r.check[1:], path)...).CombinedOutput()
	if err != nil {
		t.Errorf("the final contents of the disk: %v: %s", err, out)
	}
	return nil
}

// exitCode returns the exit status of a program; −1 if it has none.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}
