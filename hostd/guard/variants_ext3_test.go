package guard_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
)

// An ext3Variant is a way to make, mount and change an ext3.
type ext3Variant struct {
	mkfs  string // options of mke2fs -t ext3
	mount string // options of mount; the first word ext4 mounts with that driver's name
	tool  string // changes the unmounted file system on $DISK0, between two mounts
	on    string // changes the mounted file system
	all   bool   // runs only with all variants (make variants)

	memory memory.Limits
}

func (v ext3Variant) name() string {
	return strings.Join(strings.Fields(v.mkfs+" "+v.mount+" "+v.tool+" "+v.on), " ")
}

// ext3Variants are the features of mke2fs, tune2fs, resize2fs, e2fsck and mount.
var ext3Variants = []ext3Variant{
	{mkfs: "-b 1024 -I 128"},
	{mkfs: "-b 2048 -I 256", all: true},
	{mkfs: "-b 4096 -I 1024"},
	{mkfs: "-O ^dir_index", all: true},
	{mkfs: "-O ^resize_inode"},
	{mkfs: "-O ^filetype"},
	{mkfs: "-O ^sparse_super,^resize_inode"},
	{mkfs: "-O ^large_file,^ext_attr"},
	{mkfs: "-O meta_bg,^resize_inode -b 1024"},
	{mkfs: "-b 1024 -E resize=4G"},
	{mkfs: "-E packed_meta_blocks=1 -J size=8"},
	{mkfs: "-E stride=16,stripe_width=64,root_owner=5:6,nodiscard", all: true},
	{mkfs: "-E lazy_itable_init=1,lazy_journal_init=1"},
	{mkfs: "-E num_backup_sb=1", all: true},
	{mkfs: "-J size=4,location=100M -m 20 -N 1000"},
	{mkfs: "-g 4096 -b 1024 -i 1024"},
	{mkfs: "-b 1024 -G 16", all: true},
	{mkfs: "-U clear -L label -M /mnt -o hurd -r 1 -e remount-ro", all: true},
	{mkfs: "-c"},
	{mount: "data=journal"},
	{mount: "data=writeback,barrier=0,commit=1"},
	{mount: "acl,user_xattr,nodelalloc,noatime", all: true},
	{mount: "ext4 journal_checksum"},
	{mount: "ext4 delalloc,auto_da_alloc,discard"},
	{mount: "ext4 dioread_nolock,lazytime,max_batch_time=0", all: true},
	{tool: "tune2fs -c 5 -i 10 -e continue -E mount_opts=acl,stride=8 -L x -m 3 -r 900 $DISK0"},
	{tool: "tune2fs -U random $DISK0; e2label $DISK0 y"},
	{tool: "tune2fs -o acl,user_xattr,journal_data $DISK0"},
	{mkfs: "-I 128", tool: "e2fsck -fp $DISK0; tune2fs -f -I 256 $DISK0"},
	{tool: "tune2fs -O ^dir_index $DISK0; e2fsck -fp $DISK0 || [ $? = 1 ]"},
	{tool: "tune2fs -O ^resize_inode $DISK0; e2fsck -fy $DISK0 || [ $? = 1 ]"},
	{mkfs: "-O ^sparse_super,^resize_inode -b 1024",
		tool: "tune2fs -O sparse_super $DISK0; e2fsck -fy $DISK0 || [ $? = 1 ]"},
	{tool: "tune2fs -O ^has_journal $DISK0; tune2fs -j $DISK0"},
	{tool: "tune2fs -O ^has_journal $DISK0; tune2fs -J size=4,location=100M $DISK0", all: true},
	{tool: "tune2fs -O ^large_file,^filetype $DISK0 || :; e2fsck -fp $DISK0 || [ $? = 1 ]"},
	{tool: "tune2fs -Q usrquota,grpquota $DISK0; tune2fs -O ^quota $DISK0"},
	{tool: "e2fsck -fyD $DISK0 || [ $? = 1 ]"},
	{tool: "e2fsck -fp $DISK0; resize2fs $DISK0 120M; resize2fs $DISK0 150M"},
	{tool: "e2fsck -fp $DISK0; resize2fs -M $DISK0; resize2fs $DISK0"},
	{tool: "e2fsck -fy -E fixes_only,bmap2extent -b 32768 $DISK0 || :", all: true},
	{on: "tune2fs -L online -m 2 -c 9 -o ^acl $DISK0; tune2fs -U random $DISK0"},
	{on: "tune2fs -j $DISK0 || :; mount -o remount,ro .; mount -o remount,rw ."},
	{on: "chattr +A d/f1; chattr +i d/f2; chattr -i d/f2; chattr +S d; lsattr -d d"},
}

// ext3Load makes a variety of objects in few commits.
const ext3Load = `
	rm -rf d; mkdir d
	for i in 1 2 3 4 5 6 7 8 9; do head -c $((i * i * 700)) /dev/urandom > d/f$i; done
	mkdir d/many; for i in $(seq 300); do : > d/many/a-name-of-forty-characters-or-more-$i; done
	ln d/f1 d/link; ln -s f1 d/soft; ln -s $(printf 'x%.0s' $(seq 80)) d/slow; mkfifo d/fifo
	mknod d/null c 1 3; head -c 3000000 /dev/urandom > d/big; truncate -s 9M d/big
	dd if=/dev/urandom of=d/sparse bs=1k count=1 seek=30000 2> /dev/null
	setfattr -n user.a -v "$(head -c 700 /dev/zero | tr '\0' x)" d/f2 || :
	sync -f .
	rm d/f5 d/many/*1; mv d/f7 d/many/; truncate -s 3k d/big; sync -f .
	exec 3> d/open; echo x >&3; rm d/open; sync -f .; exec 3>&-; sync -f .`

// TestExt3Variants runs every supported way to make, mount and change an ext3 under a load: nothing
// is refused or undecided, and e2fsck finds each result sound. FSWARD_VARIANTS=all includes
// variants of less interest.
func TestExt3Variants(t *testing.T) {
	commits := 0
	for _, v := range ext3Variants {
		if v.all && os.Getenv("FSWARD_VARIANTS") != "all" {
			continue
		}
		t.Run(v.name(), func(t *testing.T) { commits += v.run(t) })
	}
	t.Logf("%d commits in all", commits)
}

// run returns the number of commits.
func (v ext3Variant) run(t *testing.T) int {
	image := guardtest.Mkfs(t, "ext3", 160<<20, strings.Fields(v.mkfs)...)
	r := guardtest.Attach(t, image, func(c *guard.Config) { c.Memory = v.memory })
	fs, options := "ext3", v.mount
	if rest, is := strings.CutPrefix(options, "ext4 "); is {
		fs, options = "ext4", rest
	}
	mount := func() {
		if err := r.Mount(fs, options); err != nil {
			r.NoAlarm()
			t.Fatal(err)
		}
	}
	mount()
	r.MustRun(r.DiskVariables() + ext3Load + "\n" + v.on)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.MustRun(r.DiskVariables() + v.tool)
	mount()
	r.MustRun(ext3Load)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	n := r.NoAlarm()
	r.End()
	guardtest.MustBeClean(t, "ext3", image)
	guardtest.MustHold(t, []string{image})
	return n
}

// preparing are the commands that write other blocks before the superblock.
var preparing = []string{"tune2fs -O mmp $DISK0", "tune2fs -O orphan_file $DISK0",
	"tune2fs -O quota,project $DISK0", "tune2fs -O project -Q prjquota $DISK0"}

// sums prints the name and the contents of each file.
const sums = `find . -path ./lost+found -prune -o -type f -print0 | sort -z | xargs -0 sha256sum`

// TestExt3UnsupportedFeatureComes lets tools bring features that fsward does not support to a
// guarded ext3. The write that brings the feature is refused by name. Some tools write other blocks
// before: space that nothing uses yet. e2fsck then repairs this, and no file is lost
// (docs/decisions/0039).
func TestExt3UnsupportedFeatureComes(t *testing.T) {
	for _, tc := range []struct{ script, want string }{
		{"tune2fs -O extents $DISK0", "extents (incompat flag 0x40)"},
		{"tune2fs -O flex_bg $DISK0", "flex_bg (incompat flag 0x200)"},
		{"tune2fs -O uninit_bg $DISK0", "uninit_bg (ro_compat flag 0x10)"},
		{"tune2fs -O metadata_csum $DISK0", "metadata_csum (ro_compat flag 0x400)"},
		{"tune2fs -O huge_file $DISK0", "huge_file (ro_compat flag 0x8)"},
		{"tune2fs -O dir_nlink $DISK0", "dir_nlink (ro_compat flag 0x20)"},
		{"tune2fs -O extra_isize $DISK0", "extra_isize (ro_compat flag 0x40)"},
		{"tune2fs -O encrypt $DISK0", "encrypt (incompat flag 0x10000)"},
		{"tune2fs -O casefold $DISK0", "casefold (incompat flag 0x20000)"},
		{"tune2fs -O extents,verity $DISK0", "extents (incompat flag 0x40)"},
		{"tune2fs -O mmp $DISK0", "mmp (incompat flag 0x100)"},
		{"tune2fs -O ea_inode $DISK0", "ea_inode (incompat flag 0x400)"},
		{"tune2fs -O large_dir $DISK0", "large_dir (incompat flag 0x4000)"},
		{"tune2fs -O fast_commit $DISK0", "fast_commit (compat flag 0x400)"},
		{"tune2fs -O stable_inodes $DISK0", "stable_inodes (compat flag 0x800)"},
		{"tune2fs -O orphan_file $DISK0", "orphan_file (compat flag 0x1000)"},
		{"tune2fs -O quota,project $DISK0", "project (ro_compat flag 0x2000)"},
		{"tune2fs -O project -Q prjquota $DISK0", "project (ro_compat flag 0x2000)"},
	} {
		t.Run(tc.script, func(t *testing.T) {
			image := guardtest.Mkfs(t, "ext3", 64<<20)
			r := guardtest.Attach(t, image, nil)
			if err := r.Mount("ext3"); err != nil {
				t.Fatal(err)
			}
			r.MustRun(ext3Load)
			was := r.MustRun(sums)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			out, _ := r.Run(t.Context(), r.DiskVariables()+"e2fsck -fp $DISK0; "+tc.script+"; sync $DISK0")
			refusedByName(t, r, tc.want)
			r.End()
			if !slices.Contains(preparing, tc.script) {
				guardtest.MustBeClean(t, "ext3", image)
			} else if err := exec.Command("e2fsck", "-fy", image).Run(); err != nil {
				t.Logf("e2fsck repaired it: %v", err)
			}
			after := guardtest.Attach(t, image, nil)
			if err := after.Mount("ext3"); err != nil {
				t.Fatalf("%v; the tool said: %s", err, out)
			}
			if is := after.MustRun(sums); is != was {
				t.Errorf("the files were:\n%s\nnow:\n%s", was, is)
			}
			after.MustRun(ext3Load)
			if err := after.Unmount(); err != nil {
				t.Fatal(err)
			}
			after.NoAlarm()
			after.End()
			guardtest.MustBeClean(t, "ext3", image)
		})
	}
}

// TestExt3AsyncCommit mounts with a journal feature that is not supported.
func TestExt3AsyncCommit(t *testing.T) {
	r := guardtest.Attach(t, guardtest.Mkfs(t, "ext3", 64<<20), nil)
	if err := r.Mount("ext4", "journal_async_commit,data=writeback"); err == nil {
		_, _ = r.Run(t.Context(), "echo > f; sync -f .")
		_ = r.Unmount()
	}
	refusedByName(t, r, "journal feature async_commit (incompat flag 0x4)")
	r.End()
	guardtest.RecoverImage(t, "ext3", r.Image)
	guardtest.MustBeClean(t, "ext3", r.Image)
}

// refusedByName expects the first refusal to name a feature.
func refusedByName(t *testing.T, r *guardtest.Rig, want string) {
	t.Helper()
	for _, ev := range r.Seen.Events() {
		if ev.Action == guard.Refused {
			if text := guardtest.TextOf(ev); ev.Outcome != change.Undecided ||
				!strings.Contains(text, want+" is not supported") {
				t.Errorf("refused for another reason than %q: %s", want, text)
			}
			return
		}
	}
	t.Errorf("nothing was refused, want %q", want)
}
