package ext3

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
	"fsward/invariants"
)

// peer runs a program, which must succeed.
func peer(t testing.TB, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v (Debian packages e2fsprogs, attr)\n%s", name, strings.Join(args, " "), err,
			out)
	}
}

// staleFileTypes runs e2fsck on a file system without the feature filetype. There Linux does not
// set the type of `.` and `..` (ext4_init_dot_dotdot), and does not clear a buffer that was in use
// before (ext4_getblk). e2fsck must report this byte and nothing else.
func staleFileTypes(t *testing.T, image string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "e2fsck", "-fn", image).CombinedOutput()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 4 {
		t.Fatalf("e2fsck: %v, want exit status 4\n%s", err, out)
	}
	usual := regexp.MustCompile(`^(e2fsck [0-9].*|Pass [1-5]: .*|Clear\? no|` +
		`.*: \*+ WARNING: Filesystem still has errors \*+|.*: [0-9]+/[0-9]+ files .*|)$`)
	stale := regexp.MustCompile(`^Entry '\.\.?' in .* has filetype set\.$`)
	found := 0
	for line := range strings.Lines(string(out)) {
		switch line = strings.TrimSpace(line); {
		case stale.MatchString(line):
			found++
		case !usual.MatchString(line):
			t.Errorf("e2fsck: %s", line)
		}
	}
	t.Logf("%d entries in blocks that were reused", found)
	if found == 0 {
		t.Error("no block was reused: the workload shows nothing")
	}
}

func Mkfs(t testing.TB, size string, opts ...string) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk.img")
	peer(t, "mkfs.ext3", append(append([]string{"-q", "-F"}, opts...), image, size)...)
	return image
}

// A follower is the hook of a device that the host's kernel has mounted: it judges every commit,
// and compares its state with the state that a new reader finds.
type follower struct {
	t       *testing.T
	disk    blocktap.Disk
	fs      *FS
	Rules   invariants.Engine
	commits int
	copies  int // largest number of blocks that were committed and not in their places
	reread  int // number of commits after which a new reader reads everything
	visit   func(interp.Observation)
	Writes  []interp.Write // all writes that were seen
}

func (f *follower) Handle(_ context.Context, r *blocktap.Request, do func() error) error {
	w := interp.Write{Off: r.Off, Len: r.Len, Discard: r.Op == blocktap.OpTrim}
	if r.Op == blocktap.OpWrite {
		w.Data = r.Data
	}
	kept := w
	kept.Data = bytes.Clone(w.Data)
	f.Writes = append(f.Writes, kept)
	obs := f.fs.Observe(w)
	for _, line := range Judge(f.Rules, obs) {
		f.t.Error(line)
	}
	if f.visit != nil {
		f.visit(obs)
	}
	if obs.Txn != nil && f.fs.pending.commit != nil {
		sameAsStream(f.t, f.fs.pending.commit.delta)
	}
	err := do()
	f.fs.Settle(err == nil)
	if f.fs.m != nil {
		f.copies = max(f.copies, len(f.fs.m.State.Copies))
	}
	if obs.Point == interp.CommitPoint {
		if f.commits++; f.reread > 0 && f.commits%f.reread == 0 {
			f.compare()
		}
	}
	return err
}

// compare reads the file system with a new reader, as after a crash at this moment, and compares
// the states.
func (f *follower) compare() {
	f.t.Helper()
	anew, err := New(f.disk)
	if err != nil {
		f.t.Errorf("after commit %d: %v", f.fs.m.Log.nextSeq-1, err)
		return
	}
	if f.fs.m.Log.nextSeq != anew.m.Log.nextSeq || f.fs.m.Log.head != anew.m.Log.head {
		f.t.Errorf("the log continues with %d at %d, for a new reader with %d at %d", f.fs.m.Log.nextSeq,
			f.fs.m.Log.head, anew.m.Log.nextSeq, anew.m.Log.head)
	}
	for b, p := range f.fs.m.State.Copies {
		if q, ok := anew.m.State.Copies[b]; ok && q != p {
			f.t.Errorf("after commit %d, block %d is at %v, for a new reader at %v",
				f.fs.m.Log.nextSeq-1, b, p, q)
		}
	}
	// A shared extended attribute block can be listed under any of its inodes.
	same := func(a, b Role) bool { return a == b || a.Level == RoleXattr && b.Level == RoleXattr }
	for b, r := range f.fs.m.Roles.All() {
		if s, ok := anew.m.Roles.Get(b); !ok || !same(r, s) {
			f.t.Errorf("after commit %d, block %d has role %v, for a new reader %v",
				f.fs.m.Log.nextSeq-1, b, r, s)
		}
	}
	for b, s := range anew.m.Roles.All() {
		if _, ok := f.fs.m.Roles.Get(b); !ok {
			f.t.Errorf("after commit %d, block %d has no role, for a new reader %v",
				f.fs.m.Log.nextSeq-1, b, s)
		}
	}
}

// Follow mounts an image with the host's kernel under a follower, and runs a script.
func Follow(t *testing.T, image string, reread int, visit func(interp.Observation), mounts []string,
	script string) *follower {
	t.Helper()
	return followAs(t, "ext3", image, reread, visit, mounts, script)
}

// followAs is Follow with the file system mounted as another type of its family.
func followAs(t *testing.T, as, image string, reread int, visit func(interp.Observation),
	mounts []string, script string) *follower {
	t.Helper()
	return through(t, image, reread, visit, func(loop *loopmount.Loop) {
		if err := loop.Mount(as, mounts...); err != nil {
			t.Fatal(err)
		}
		if out, err := loop.Run(context.Background(), script); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := loop.Unmount(); err != nil {
			t.Fatal(err)
		}
	})
}

// through makes a loop device of an image, with a follower in between, while do runs.
func through(t *testing.T, image string, reread int, visit func(interp.Observation),
	do func(*loopmount.Loop)) *follower {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	f := &follower{t: t, disk: disk, Rules: Engine(t), reread: reread, visit: visit}
	if f.fs, err = New(disk); err != nil {
		t.Fatal(err)
	}
	loop, err := loopmount.Attach(context.Background(), blocktap.NewDevice(disk, f),
		zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := loop.Close(); err != nil {
			t.Error(err)
		}
	}()
	do(loop)
	return f
}

// recoveries are ways to recover a file system after a crash, before the next mount.
var recoveries = []struct {
	name string
	do   func(t *testing.T, loop *loopmount.Loop)
}{
	{"mount", func(*testing.T, *loopmount.Loop) {}},
	{"mount read-only", func(t *testing.T, loop *loopmount.Loop) {
		if err := errors.Join(loop.Mount("ext3", "ro"), loop.Unmount()); err != nil {
			t.Error(err)
		}
	}},
	{"remount", func(t *testing.T, loop *loopmount.Loop) {
		err := loop.Mount("ext3", "ro")
		_, run := loop.Run(context.Background(),
			`mount -o remount,rw "$FSWARD_DIR"; echo x > x; sync x; mount -o remount,ro "$FSWARD_DIR"`)
		if err := errors.Join(err, run, loop.Unmount()); err != nil {
			t.Error(err)
		}
	}},
	{"e2fsck", func(t *testing.T, loop *loopmount.Loop) {
		out, err := loop.Run(context.Background(), "cd /; e2fsck -fp "+loop.LoopDev+" || [ $? = 1 ]")
		t.Logf("%s%v", out, err)
	}},
	{"e2fsck, journal only", func(t *testing.T, loop *loopmount.Loop) {
		out, err := loop.Run(context.Background(),
			"cd /; e2fsck -p -E journal_only "+loop.LoopDev+" || [ $? = 1 ]")
		t.Logf("%s%v", out, err)
	}},
}

// TestRecoveryByOthers checks that after a crash, the recovery of the kernel and that of e2fsck
// cause no violation, and later commits are judged.
func TestRecoveryByOthers(t *testing.T) {
	image := Mkfs(t, "64M", "-J", "size=2")
	crashed := filepath.Join(t.TempDir(), "crashed.img")
	commits := 0
	Follow(t, image, 0, func(obs interp.Observation) {
		if obs.Point == interp.CommitPoint {
			if commits++; commits == 80 {
				if err := os.WriteFile(crashed, ReadFile(t, image), 0o600); err != nil {
					t.Error(err)
				}
			}
		}
	}, nil, workload)
	sb, err := readSuper(OpenImage(t, crashed))
	if err != nil || !ondisk.NeedsRecovery(sb) {
		t.Fatalf("the copy needs no recovery: %v", err)
	}
	for _, tc := range recoveries {
		t.Run(tc.name, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "disk.img")
			peer(t, "cp", "--sparse=always", crashed, image)
			f := through(t, image, 1, func(obs interp.Observation) {
				if obs.Note != "" {
					t.Log(obs.Note)
				}
			}, func(loop *loopmount.Loop) {
				tc.do(t, loop)
				if err := loop.Mount("ext3"); err != nil {
					t.Fatal(err)
				}
				if out, err := loop.Run(context.Background(),
					"mkdir after; cp d0/f* after || :; sync -f .; rm -r after; sync -f ."); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				if err := loop.Unmount(); err != nil {
					t.Error(err)
				}
			})
			if f.commits < 2 {
				t.Errorf("%d commits after the recovery", f.commits)
			}
			peer(t, "e2fsck", "-fn", image)
		})
	}
}

const workload = `
mkdir d0 d1 d2 d3; i=0
while [ $i -lt 25 ]; do
	mkdir -p d$((i % 4))/sub$i
	for j in 1 2 3 4 5; do
		head -c $((j * j * 4000)) /dev/urandom > d$((i % 4))/f$i.$j; sync d$((i % 4))/f$i.$j
	done
	ln d$((i % 4))/f$i.1 d$((i % 4))/sub$i/hard; ln -s ../f$i.2 d$((i % 4))/sub$i/soft
	ln -s $(head -c 200 /dev/zero | tr '\0' x) d$((i % 4))/sub$i/long
	mkfifo d$((i % 4))/pipe$i; mknod d$((i % 4))/dev$i b 259 $i
	mv d$((i % 4))/f$i.3 d$(((i + 1) % 4))/moved$i
	rm -f d$(((i + 2) % 4))/f$((i - 2)).[12]
	[ $i -lt 6 ] || rm -rf d$(((i - 5) % 4))/sub$((i - 5))
	dd if=/dev/urandom of=sparse bs=1k count=3 seek=$((i * i * 150)) conv=notrunc,fsync 2> /dev/null
	[ $((i % 7)) != 6 ] || truncate -s 70k sparse
	mv -T d$(((i + 1) % 4))/moved$i over
	for j in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		: > d0/a-rather-long-name-that-fills-the-directory-$i-$j
	done
	[ $i -lt 9 ] || rm d0/a-rather-long-name-that-fills-the-directory-$((i - 8))-*
	exec 3> open; echo x >&3; rm open; sync -f .; exec 3>&-
	head -c 3000 /dev/urandom >> log; sync log
	i=$((i + 1))
done
sync -f .
rm -rf d1 d2
`

// reuse makes directory blocks of the blocks of long symbolic links. One directory holds them, so
// that they are in one group.
const reuse = `
mkdir links
for i in $(seq 40); do ln -s $(head -c 200 /dev/zero | tr '\0' x) links/$i; done
sync -f .; rm links/*; sync -f .
for i in $(seq 30); do mkdir links/again$i; done
`

const Xattrs = `
head -c 300 /dev/zero | tr '\0' v > value
for f in a b c d; do : > $f; setfattr -n user.one -v "$(cat value)" $f; sync $f; done
cp --preserve=xattr a e; sync -f .
setfattr -n user.two -v "$(cat value)" b; sync -f .
setfattr -x user.one c; sync -f .
rm a d; sync -f .
`

// TestKernel follows real file systems with several geometries: no commit of the kernel has a
// violation, and the followed state equals the state that a new reader finds.
func TestKernel(t *testing.T) {
	clean := func(t *testing.T, image string) { peer(t, "e2fsck", "-fn", image) }
	for _, tc := range []struct {
		name   string
		size   string
		mkfs   []string
		mounts []string
		script string
		sound  func(*testing.T, string)
	}{
		{"default", "256M", nil, nil, workload, clean},
		{"blocks of 1 KiB, small journal", "64M", []string{"-b", "1024", "-J", "size=1"}, nil, workload,
			clean},
		{"inodes of 128 bytes, blocks of 2 KiB", "128M", []string{"-I", "128", "-b", "2048", "-J",
			"size=2"}, nil, workload, clean},
		{"no features", "64M", []string{"-O", "^filetype,^dir_index,^resize_inode,^sparse_super"}, nil,
			workload + reuse, staleFileTypes},
		{"data in the journal", "128M", []string{"-J", "size=4"}, []string{"data=journal"}, workload,
			clean},
	} {
		t.Run(tc.name, func(t *testing.T) {
			image := Mkfs(t, tc.size, tc.mkfs...)
			f := Follow(t, image, 7, nil, tc.mounts, tc.script)
			t.Logf("%d commits, up to %d blocks not in their places", f.commits, f.copies)
			if f.commits < 50 || f.copies == 0 {
				t.Errorf("%d commits, %d copies: the workload shows nothing", f.commits, f.copies)
			}
			if f.fs.m != nil {
				t.Error("still mounted")
			}
			tc.sound(t, image)
			obs, err := Image(OpenImage(t, image))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range Judge(Engine(t), obs) {
				t.Error(line)
			}
		})
	}
	t.Run("extended attributes", func(t *testing.T) {
		image := Mkfs(t, "64M", "-I", "128")
		shared := 0
		f := Follow(t, image, 1, func(obs interp.Observation) {
			if obs.Txn == nil {
				return
			}
			for _, r := range obs.Txn.Records {
				if n, _ := r.New.Num(); r.Object.Kind == ondisk.KindXattrBlock &&
					r.Field == ondisk.FieldRefcount && n > 1 {
					shared++
				}
			}
		}, nil, Xattrs)
		if f.commits < 4 || shared == 0 {
			t.Errorf("%d commits, %d times a shared block", f.commits, shared)
		}
		peer(t, "e2fsck", "-fn", image)
	})
}
