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

// TestGuestGuardedDisk checks that a file system works on a guarded disk as on any other, and that
// a refused write fails in the guest and is not on the disk: a commit of ext3 whose inode has a
// wrong number of links, after which the kernel aborts the journal, and a block of Btrfs that the
// last commit needs.
func TestGuestGuardedDisk(t *testing.T) {
	const stamp = 0x12345678 // a time, by which the inode is found
	for _, c := range []struct {
		fs    string
		mib   uint64
		spoil func(b image) string // returns shell commands
		rule  string
		says  string   // the kernel's message
		check []string // checks the final contents of the disk
	}{
		{"ext3", 16, func(b image) string {
			// i_atime; the table of inodes is before the journal
			at := bytes.Index(b, []byte{0x78, 0x56, 0x34, 0x12})
			const atime, links = 8, 26
			return fmt.Sprintf(`printf '\005' | dd of=/dev/fswrd0 bs=1 seek=%d conv=notrunc 2>/dev/null; touch -a /mnt/g/f; ! sync.coreutils -f /mnt/g/f`,
				at-atime+links)
		}, "ext3/", "Aborting journal", []string{"e2fsck", "-fn"}},
		{"btrfs", 128, func(b image) string {
			// The root of the tree that balances data: nothing has changed it since mkfs, and each commit
			// needs it.
			const node, fsid, generation, owner = 16 << 10, 32, 80, 88
			block, newest := 0, uint64(0)
			for at := 1 << 20; at < len(b); at += node {
				if bytes.Equal(b[at+fsid:at+fsid+16], b[64<<10+fsid:64<<10+fsid+16]) &&
					int64(binary.LittleEndian.Uint64(b[at+owner:])) == -9 &&
					binary.LittleEndian.Uint64(b[at+generation:]) > newest {
					block, newest = at, binary.LittleEndian.Uint64(b[at+generation:])
				}
			}
			return fmt.Sprintf(`! dd if=/dev/zero of=/dev/fswrd0 bs=4096 seek=%d count=1 oflag=direct conv=notrunc 2>/dev/null`, block/4096)
		}, "btrfs/", "", []string{"btrfs", "check"}},
	} {
		t.Run(c.fs, func(t *testing.T) {
			inGuest(t, 3*time.Minute, func(ctx context.Context, m *machine.Machine) error {
				kernel := ""
				sh := func(format string, args ...any) error {
					e, err := m.Run(ctx, agent.Command{Args: []string{"sh", "-c", fmt.Sprintf(format, args...)},
						Timeout: time.Minute})
					kernel += e.Kernel
					if err == nil && e.Code != 0 {
						err = fmt.Errorf("%s: %d %s %s", fmt.Sprintf(format, args...), e.Code, e.Stderr, e.Kernel)
					}
					return err
				}
				disk, was := image(make([]byte, c.mib<<20)), make(image, c.mib<<20)
				err := errors.Join(m.MakeDisk(ctx, 0, c.mib<<20),
					sh("mkfs.%s -q /dev/fswrd0 && mkdir -p /mnt/g && mount -t %[1]s /dev/fswrd0 /mnt/g", c.fs),
					sh("echo kept >/mnt/g/f; touch -d @%d /mnt/g/f; umount /mnt/g", stamp), m.ReadDisk(ctx, 0,
						was.Size(), was))
				if err != nil {
					return err
				}
				guard := &Guard{Log: zaptest.NewLogger(t)}
				g, err := guard.Begin([]explore.GuardedDisk{{Name: "/dev/fswrd0", Base: was}})
				if err != nil {
					return err
				}
				defer g.Close()
				asked := 0
				err = errors.Join(m.Log(ctx, 0, true), m.Guard(ctx, 0,
					func(bio *ramdisk.Record) unix.Errno { asked++; return g.Allow(0, bio) }),
					sh("mount -t %s /dev/fswrd0 /mnt/g", c.fs))
				begin := time.Now()
				err = errors.Join(err, sh("for i in 1 2 3 4 5; do mkdir /mnt/g/d$i; cp /bin/chrt /mnt/g/d$i; sync.coreutils -f /mnt/g; done; mv /mnt/g/d1 /mnt/g/d2/; rm -r /mnt/g/d3; sync.coreutils -f /mnt/g"))
				if err != nil {
					return err
				}
				if refused := g.Refused(); refused != nil || asked < 20 {
					t.Errorf("of %d bios that are right: %v", asked, refused)
				}
				t.Logf("%d bios were asked for in %v", asked, time.Since(begin))
				kernel = ""
				if err := sh("%s", c.spoil(was)); err != nil {
					t.Errorf("what is wrong does not fail: %v", err)
				}
				refused := g.Refused()
				if refused == nil || !strings.HasPrefix(refused.Kind, "refused: "+c.rule) ||
					!strings.Contains(kernel, c.says) {
					t.Errorf("refused: %v; the kernel says %q", refused, kernel)
				}
				t.Logf("%v\n%s", refused, kernel)
				_ = sh("umount /mnt/g") // dirty blocks cannot be written
				err = errors.Join(m.Guard(ctx, 0, nil), m.Log(ctx, 0, false),
					m.ReadDisk(ctx, 0, disk.Size(), disk), m.RemoveDisk(ctx, 0))
				if err != nil {
					return err
				}
				path := filepath.Join(t.TempDir(), "disk")
				if err := os.WriteFile(path, disk, 0o600); err != nil {
					return err
				}
				if c.fs == "ext3" {
					if out, err := exec.Command("e2fsck", "-E", "journal_only", "-p",
						path).CombinedOutput(); err != nil && exitCode(err) != 1 {
						t.Errorf("the journal: %v: %s", err, out)
					}
				}
				if out, err := exec.Command(c.check[0], append(c.check[1:],
					path)...).CombinedOutput(); err != nil {
					t.Errorf("what the disk holds: %v: %s", err, out)
				}
				return nil
			})
		})
	}
}

// exitCode returns the exit status of a program; −1 if it has none.
func exitCode(err error) int {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return e.ExitCode()
	}
	return -1
}
