//go:build vmtest

package host

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
	"fsward/explore/usermode"
	"fsward/hostd/guardtest"
)

// loggedMiB is the size of the log in these tests.
const loggedMiB = 32

// withLogged calls f with user-mode Linux, disk 0 of 16 MiB, and its log.
func withLogged(t *testing.T, f func(ctx context.Context, m *usermode.Machine) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cfg := userModeGuest(t, 16<<20)
	cfg.LogMiB, cfg.MemoryMiB = loggedMiB, 256
	err := WithUserMode(ctx, cfg, func(m *usermode.Machine) error {
		err := errors.Join(m.MakeDisk(ctx, 0, 16<<20), m.Snapshot(ctx, 0, "zeros"), m.Log(ctx, 0, true))
		if err != nil {
			return err
		}
		return f(ctx, m)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// diskBytes are the contents of a disk.
type diskBytes []byte

func (b diskBytes) WriteAt(p []byte, off int64) (int, error) { return copy(b[off:], p), nil }

// apply performs the requests of a log, and counts them.
func (b diskBytes) apply(t *testing.T, records []ramdisk.Record) (count map[ramdisk.Op]int) {
	count = make(map[ramdisk.Op]int)
	for i, r := range records {
		if r.Type != ramdisk.Submit {
			continue
		}
		done := records[i+1]
		if r.Op == ramdisk.Zeroes && done.Status == unix.EOPNOTSUPP { // the kernel writes zeros then
			continue
		}
		if done.ID != r.ID || done.Status != 0 || done.Done != r.Len {
			t.Errorf("%+v\nends as %+v", r, done)
		}
		count[r.Op]++
		at := b[r.Sector*ramdisk.SectorSize:]
		switch r.Op {
		case ramdisk.Write:
			copy(at, r.Data)
		case ramdisk.Discard, ramdisk.Zeroes:
			clear(at[:r.Len])
		}
	}
	return count
}

// TestGuestUserModeDiskLog checks that the log of user-mode Linux makes the disk: with all kinds of
// requests in it, also in a second boot, which
// begins with an empty log and no logged disk.
func TestGuestUserModeDiskLog(t *testing.T) {
	withLogged(t, func(ctx context.Context, m *usermode.Machine) error {
		logged := make(diskBytes, 16<<20)
		for _, script := range []string{
			"mke2fs -q -t ext4 /dev/fswrd0; mkdir -p /mnt; mount -o discard /dev/fswrd0 /mnt; " +
				"dd if=/dev/urandom of=/mnt/a bs=100k count=20 2>/dev/null; sync; rm /mnt/a; sync; " +
				"echo b >/mnt/b; umount /mnt",
			"mkdir -p /mnt; mount /dev/fswrd0 /mnt; cat /mnt/b; mv /mnt/b /mnt/c; umount /mnt",
		} {
			exit, err := m.Run(ctx, agent.Command{Args: []string{"sh", "-ec", script}, Timeout: time.Minute})
			if err != nil || exit.Code != 0 {
				t.Fatalf("%+v, %v", exit, err)
			}
			records, err := m.Records(ctx)
			if err != nil {
				return err
			}
			count := logged.apply(t, records)
			for _, op := range []ramdisk.Op{ramdisk.Read, ramdisk.Write, ramdisk.Flush} {
				if count[op] == 0 {
					t.Errorf("no %s in %v", op, count)
				}
			}
			disk := make(diskBytes, len(logged))
			if err := m.ReadDisk(ctx, 0, uint64(len(disk)), disk); err != nil {
				return err
			}
			if !bytes.Equal(disk, logged) {
				t.Errorf("after %v the log does not make the disk", count)
			}
			// What is done after the last call of Records is in no log of the next boot.
			_, err = m.Do(ctx, agent.Batch{Ops: []agent.Op{agent.DiskMark("x")}, Timeout: time.Minute})
			if err := errors.Join(err, m.Load(ctx, nil)); err != nil {
				return err
			}
			if left, err := m.Records(ctx); err != nil || len(left) > 0 {
				t.Errorf("after a boot the log has %v, %v", left, err)
			}
			if err := m.Log(ctx, 0, true); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestGuestUserModeRules checks that the rules of the agent make requests fail, and that marks of a
// batch are between its requests.
func TestGuestUserModeRules(t *testing.T) {
	withLogged(t, func(ctx context.Context, m *usermode.Machine) error {
		for _, op := range []ramdisk.Op{ramdisk.Read, ramdisk.Write, ramdisk.Flush} {
			fail := agent.DiskInject(0, ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{op}, Nth: 1,
				Times: 1 << 40, Error: uint32(unix.EIO)})
			ops := []agent.Op{fail, agent.DropCaches(), agent.DiskMark("begin"),
				agent.Open(0, "/dev/fswrd0", unix.O_RDWR, 0), agent.Read(0, 0, 4096),
				agent.Write(0, 8192, []byte("x")), agent.Fsync(0), agent.DiskMark("end"),
				agent.DiskClear(0), agent.Write(0, 8192, []byte("y")), agent.Fsync(0), agent.Read(0, 0, 1)}
			done, err := m.Do(ctx, agent.Batch{Ops: ops, Timeout: time.Minute})
			if err != nil {
				return err
			}
			failed := done.Results[4].Errno | done.Results[6].Errno
			if failed != unix.EIO || done.Results[10].Errno != 0 || done.Results[11].Errno != 0 {
				t.Errorf("%s: %+v", op, done.Results)
			}
			records, err := m.Records(ctx)
			if err != nil {
				return err
			}
			between, injected := 0, 0
			for _, r := range records {
				if r.Type == ramdisk.Mark {
					between++
				}
				if r.Injected.Has(ramdisk.Fail) {
					injected++
					if between != 1 || r.Status == 0 || r.Op != op {
						t.Errorf("%s: after %d marks: %+v", op, between, r)
					}
				}
			}
			if between != 2 || injected == 0 {
				t.Errorf("%s: %d marks, %d injected", op, between, injected)
			}
		}
		return nil
	})
}

// TestGuestUserModeSteps explores in user-mode Linux alone. Sound file systems have no error, also
// with crashes during recovery, and those that do not flush have errors that a replay shows.
func TestGuestUserModeSteps(t *testing.T) {
	for _, c := range []struct {
		fs, options string
		bug         bool
	}{{"ext3", "", false}, {"ext3", "nobarrier", true}, {"btrfs", "nobarrier", true}} {
		s, err := spec.FileSystem(c.fs, c.options, "", "sync", "")
		if err != nil {
			t.Fatal(err)
		}
		run := spec.Run{Spec: s, Strategy: explore.BreadthFirst, Depth: 1, Limit: 4, Seed: 1, Files: 1,
			Dirs: 1, RunIn: spec.InUserMode, Recovery: !c.bug, Operations: spec.NoOperations}
		cfg, bytes, err := inUserMode(&run)
		if err != nil {
			t.Fatal(err)
		}
		guest := UserModeConfig{GuestConfig: GuestConfig{Dir: guardtest.GuestDir(t), LogMiB: loggedMiB,
			MemoryMiB: 256}, DiskBytes: bytes}
		err = WithUserMode(t.Context(), guest, func(m *usermode.Machine) error {
			cfg.System, cfg.Dir, cfg.Runs = m, t.TempDir(), 6
			sum, err := explore.Run(t.Context(), cfg)
			if err != nil {
				return err
			}
			t.Logf("%s %s: %d runs, %d crash states, %d recovered, %d errors", c.fs, c.options, sum.Runs,
				sum.CrashStates, sum.Recovered, len(sum.Errors))
			if sum.Recovered == 0 || (len(sum.Errors) > 0) != c.bug {
				t.Errorf("%s %s: %+v", c.fs, c.options, sum)
			}
			if c.bug && len(sum.Errors) > 0 {
				found, err := explore.Replay(t.Context(), cfg, sum.Errors[0])
				if err != nil || found == nil || found.Kind != sum.Errors[0].Kind {
					t.Errorf("replayed: %v, %v, want %s", found, err, sum.Errors[0].Kind)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
