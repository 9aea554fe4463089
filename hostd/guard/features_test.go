package guard_test

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// newerProgs returns the folder of btrfs-progs that have features which Debian 12's lack.
func newerProgs(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FSWARD_BTRFS_PROGS")
	if dir == "" {
		dir = filepath.Join(guardtest.Project(t), "build", "btrfs-progs")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sbin", "mkfs.btrfs")); err != nil {
		t.Fatalf("no newer btrfs-progs at %s, for features that mkfs.btrfs cannot make: "+
			"make setup unpacks them", dir)
	}
	return dir
}

// Bits of the superblock's features.
const (
	incompatSimpleQuota    = 1 << 16
	compatROBlockGroupTree = 1 << 3
)

// flags returns the feature words of the superblock on an image.
func flags(t *testing.T, image string) (compatRO, incompat uint64) {
	t.Helper()
	b := make([]byte, 16)
	readAt(t, image, b, 64<<10+180)
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}

// TestNewerFeatures checks features that mkfs.btrfs makes from 6.3 on, and conversions to and from
// them: fsward check holds, every commit of the kernel holds, and btrfs check of the same version
// agrees.
func TestNewerFeatures(t *testing.T) {
	progs := newerProgs(t)
	for _, tc := range []struct {
		disks              int
		mkfs, tune         string
		compatRO, incompat uint64 // set in the end
	}{
		{1, "-O block-group-tree", "", compatROBlockGroupTree, 0},
		{1, "-O squota", "", 0, incompatSimpleQuota},
		{2, "-O block-group-tree,squota -n 4096 --csum xxhash -d raid1 -m raid1", "",
			compatROBlockGroupTree, incompatSimpleQuota},
		{1, "", "--convert-to-block-group-tree", compatROBlockGroupTree, 0},
		{1, "-O block-group-tree", "--convert-from-block-group-tree", 0, 0},
		{1, "", "--enable-simple-quota", 0, incompatSimpleQuota},
		{1, "-O squota", "--remove-simple-quota", 0, 0},
	} {
		t.Run(strings.TrimSpace(tc.mkfs+" "+tc.tune), func(t *testing.T) {
			images := guardtest.BlankDisks(t, tc.disks, 256<<20)
			guardtest.Run(t, filepath.Join(progs, "sbin", "mkfs.btrfs"),
				append(append([]string{"-q"}, strings.Fields(tc.mkfs)...), images...)...)
			if tc.tune != "" {
				guardtest.Run(t, filepath.Join(progs, "bin", "btrfstune"),
					append(strings.Fields(tc.tune), images[0])...)
			}
			guardtest.MustHold(t, images)
			r := guardtest.AttachDisks(t, images, nil)
			r.MustMount("btrfs")
			r.MustRun(variantLoad)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			guardtest.Run(t, filepath.Join(progs, "bin", "btrfs"), "check", r.LoopDev)
			commits := r.NoAlarm()
			r.End()
			guardtest.MustHold(t, images)
			compatRO, incompat := flags(t, images[0])
			if commits < 4 || compatRO&compatROBlockGroupTree != tc.compatRO ||
				incompat&incompatSimpleQuota != tc.incompat {
				t.Errorf("%d commits; compat_ro is %#x, incompat %#x", commits, compatRO, incompat)
			}
		})
	}
}

// TestNewerOfflineTools checks that newer tools can change the format of the unmounted, guarded
// disk.
func TestNewerOfflineTools(t *testing.T) {
	progs := newerProgs(t)
	for tool, mkfs := range map[string]string{
		"--convert-to-block-group-tree": "", "--enable-simple-quota": "", "-f -m": "", "-f -u": "",
		"-f -M 11111111-2222-3333-4444-555555555555": "",
		"--convert-to-free-space-tree":               "-R ^free-space-tree",
	} {
		t.Run(tool, func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, 1, 256<<20, strings.Fields(mkfs)...), nil)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			guardtest.Run(t, filepath.Join(progs, "bin", "btrfstune"),
				append(strings.Fields(tool), r.LoopDev)...)
			r.MustMount("btrfs")
			r.MustRun(guardtest.Filled)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			guardtest.Run(t, filepath.Join(progs, "bin", "btrfs"), "check", r.LoopDev)
			if commits := r.NoAlarm(); commits < 2 {
				t.Errorf("%d commits", commits)
			}
			r.End()
			guardtest.MustHold(t, r.Images)
		})
	}
}

// TestDefaultSubvolumeAndProperties mounts a subvolume by default, and sets properties of files and
// folders.
func TestDefaultSubvolumeAndProperties(t *testing.T) {
	r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, 1, 256<<20), nil)
	r.MustMount("btrfs")
	r.MustRun(guardtest.Filled + `
		btrfs -q subvolume create default; btrfs subvolume set-default default
		btrfs property set default label x 2> /dev/null || btrfs filesystem label . x
		sync -f .`)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.MustMount("btrfs")
	if got := r.MustRun("ls -A"); got != "" {
		t.Errorf("the default subvolume is not what is mounted: it has %q", got)
	}
	r.MustRun(guardtest.Filled + `
		mkdir p; btrfs property set p compression zstd
		head -c 900000 /dev/zero | tr '\0' a > p/file; btrfs property set p/file compression lzo
		btrfs property get p/file compression; sync -f .
		btrfs property set p compression none; touch p/none
		btrfs -q subvolume create s; btrfs property set s ro true; sync -f .
		btrfs property set s ro false; btrfs -q subvolume delete s; sync -f .`)
	if n := finish(r, true); n < 5 {
		t.Errorf("%d commits", n)
	}
}

// TestUnsupportedFeatures checks that unsupported features are refused by name, whether they exist
// at the start or appear later.
func TestUnsupportedFeatures(t *testing.T) {
	bit := func(at int64, n uint) func(*testing.T, []string) {
		return func(t *testing.T, images []string) {
			guardtest.Run(t, "mkfs.btrfs", "-q", images[0])
			b := make([]byte, 4096)
			readAt(t, images[0], b, 64<<10)
			binary.LittleEndian.PutUint64(b[at:], binary.LittleEndian.Uint64(b[at:])|1<<n)
			binary.LittleEndian.PutUint32(b, crc32.Checksum(b[32:], crc32.MakeTable(crc32.Castagnoli)))
			writeAt(t, images[0], b, 64<<10)
		}
	}
	for _, tc := range []struct {
		name  string
		disks int
		size  int64
		make  func(t *testing.T, images []string)
	}{
		{"ZONED (incompat flag 0x1000)", 1, 4 << 30, func(t *testing.T, images []string) {
			guardtest.Run(t, filepath.Join(newerProgs(t), "sbin", "mkfs.btrfs"), "-q", "-O", "zoned",
				images[0])
		}},
		// Features that no released mkfs.btrfs makes.
		{"EXTENT_TREE_V2 (incompat flag 0x2000)", 1, 256 << 20, bit(188, 13)},
		{"RAID_STRIPE_TREE (incompat flag 0x4000)", 1, 256 << 20, bit(188, 14)},
		{"REMAP_TREE (incompat flag 0x20000)", 1, 256 << 20, bit(188, 17)},
		{"incompat flag 0x8000000000000000", 1, 256 << 20, bit(188, 63)},
		{"compat_ro flag 0x10", 1, 256 << 20, bit(180, 4)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			images := guardtest.BlankDisks(t, tc.disks, tc.size)
			tc.make(t, images)
			want := "btrfs: " + tc.name + " is not supported"
			if _, err := offline.Check(t.Context(), images, detect.Auto, guard.RulesConfig{}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("check: %v, want %q", err, want)
			}
			cfg := guard.Config{FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse}}
			for _, image := range images {
				cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: filepath.Base(image), Path: image})
			}
			if d, err := guard.Open(cfg, zaptest.NewLogger(t)); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("guard: %v, want %q", err, want)
				if err == nil {
					_ = d.Close()
				}
			}
		})
	}
}

// TestUnsupportedFeatureComes checks that a file system with an unsupported feature is refused by
// name, with --unguarded refuse, when it takes the place of a guarded one.
func TestUnsupportedFeatureComes(t *testing.T) {
	images := guardtest.MadeDisks(t, 1, 4<<30)
	r := guardtest.AttachDisks(t, images, func(c *guard.Config) {
		c.Unguarded = guard.UnguardedRefuse
	})
	out, err := r.Run(t.Context(), filepath.Join(newerProgs(t), "sbin", "mkfs.btrfs")+
		" -q -f -O zoned "+r.LoopDev)
	// It reports the error and exits with 0.
	if err == nil && !strings.Contains(string(out), "Input/output error") {
		t.Errorf("mkfs.btrfs was not told: %s", out)
	}
	refused := 0
	for _, ev := range r.Seen.Events() {
		if ev.Action != guard.Refused {
			continue
		}
		refused++
		if text := guardtest.TextOf(ev); refused == 1 && (ev.Outcome != change.Undecided ||
			!strings.Contains(text, "ZONED (incompat flag 0x1000) is not supported")) {
			t.Errorf("refused for another reason: %s", text)
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}

// TestExtentsCome lets e2fsck give the files of an ext3 extents. The inodes come first and are
// refused, so that another e2fsck finds each file with its contents.
func TestExtentsCome(t *testing.T) {
	image := guardtest.BlankImage(t, 64<<20)
	guardtest.Run(t, "mke2fs", "-q", "-F", "-t", "ext3", "-b", "1024", "-d", "/etc/apt", image)
	r := guardtest.Attach(t, image, nil)
	// e2fsck -y goes on after errors of writes, as often as there are some.
	_, err := r.Run(t.Context(), "e2fsck -fy -E bmap2extent "+r.LoopDev)
	if err == nil {
		t.Error("e2fsck reports success")
	}
	var refused []string
	for _, ev := range r.Seen.Events() {
		if ev.Action == guard.Refused {
			refused = append(refused, guardtest.TextOf(ev))
		}
	}
	const want = "ext3: an inode with extents (inode "
	if len(refused) == 0 || !strings.Contains(refused[0], want) {
		t.Errorf("refused: %q, want first %q", refused, want)
	}
	r.End()
	files := filepath.Join(t.TempDir(), "files")
	_ = exec.CommandContext(t.Context(), "e2fsck", "-fy", image).Run() // repairs bitmaps
	guardtest.Run(t, "e2fsck", "-fn", image)
	guardtest.Run(t, "mkdir", files)
	guardtest.Run(t, "debugfs", "-R", "rdump / "+files, image)
	guardtest.Run(t, "rmdir", filepath.Join(files, "lost+found"))
	guardtest.Run(t, "diff", "-r", "/etc/apt", files)
}
