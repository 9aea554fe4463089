package guard_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A variant is a way to make and to mount Btrfs.
type variant struct {
	disks int
	mkfs  string // options of mkfs.btrfs
	mount string // options of mount
	more  string // a script that runs first
	all   bool   // runs only with all variants (make variants), since it takes long
}

func (v variant) name() string {
	parts := []string{fmt.Sprint(v.disks), v.mkfs, v.mount}
	if v.more != "" {
		parts = append(parts, strings.Fields(v.more)[0])
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// simpleQuota begins a load with BTRFS_IOC_QUOTA_CTL with BTRFS_QUOTA_CTL_ENABLE_SIMPLE_QUOTA,
// which btrfs-progs know from 6.7 on.
const simpleQuota = `
	perl -e 'open(D, "<", ".") or die; $a = pack("QQ", 4, 0); ioctl(D, 0xC0109428, $a) or die $!'
`

// variants are the features of mkfs.btrfs and mount, each with a load that uses it.
var variants = []variant{
	{disks: 1, mkfs: "-d single -m single"},
	{disks: 1, mkfs: "-M -d single -m single"},
	{disks: 1, mkfs: "-M -d dup -m dup", all: true},
	{disks: 1, mkfs: "-d dup -m dup", all: true},
	{disks: 1, mkfs: "-n 4096"},
	{disks: 1, mkfs: "-n 8192", all: true},
	{disks: 1, mkfs: "-n 32768", all: true},
	{disks: 1, mkfs: "-n 65536"},
	{disks: 1, mkfs: "--csum xxhash"},
	{disks: 1, mkfs: "--csum sha256", all: true},
	{disks: 1, mkfs: "--csum blake2 -n 4096"},
	{disks: 1, mkfs: "-O ^skinny-metadata"},
	{disks: 1, mkfs: "-O ^no-holes"},
	{disks: 1, mkfs: "-O ^extref", all: true},
	{disks: 1, mkfs: "-R ^free-space-tree", mount: "space_cache"},
	{disks: 1, mkfs: "-R ^free-space-tree", mount: "nospace_cache", all: true},
	{disks: 1, mkfs: "-R ^free-space-tree", mount: "space_cache=v2", all: true},
	{disks: 1, mkfs: "-O mixed-bg,^skinny-metadata,^no-holes -n 4096", all: true},
	{disks: 1, mkfs: "-R quota"},
	{disks: 1, more: simpleQuota},
	{disks: 1, mkfs: "-O ^skinny-metadata,^no-holes,^extref -R ^free-space-tree -n 4096",
		more: "LINKS=20\n"},
	{disks: 1, mount: "compress-force=zlib", all: true},
	{disks: 1, mount: "compress-force=lzo", all: true},
	{disks: 1, mount: "compress-force=zstd"},
	{disks: 1, mount: "nodatasum", all: true},
	{disks: 1, mount: "nodatacow"},
	{disks: 1, mount: "max_inline=0", all: true},
	{disks: 1, mount: "autodefrag,discard=async", all: true},
	{disks: 1, mount: "discard=sync"},
	{disks: 1, mount: "flushoncommit,notreelog", all: true},
	{disks: 1, mount: "ssd_spread", all: true},
	{disks: 1, mkfs: "-O raid56", mount: "metadata_ratio=1,user_subvol_rm_allowed", all: true},
	{disks: 1, mkfs: "-R ^free-space-tree", mount: "clear_cache,space_cache=v2", all: true},
	{disks: 2, mkfs: "-d single -m raid1"},
	{disks: 2, mkfs: "-d raid0 -m raid0"},
	{disks: 2, mkfs: "-d raid1 -m raid1 --csum xxhash", all: true},
	{disks: 2, mkfs: "-d single -m single -n 65536", all: true},
	{disks: 2, mkfs: "-d raid1 -m raid1", mount: "compress=zstd", all: true},
	{disks: 2, mkfs: "-M -d raid1 -m raid1 -n 4096", all: true},
	{disks: 3, mkfs: "-d raid0 -m raid1c3 -n 4096"},
	{disks: 3, mkfs: "-d raid1c3 -m raid0 --csum blake2", all: true},
	{disks: 4, mkfs: "-d raid10 -m raid10"},
	{disks: 3, mkfs: "-d raid5 -m raid5"},
	{disks: 2, mkfs: "-d raid5 -m raid5 -n 4096", all: true},
	{disks: 4, mkfs: "-d raid6 -m raid6 -n 65536"},
	{disks: 3, mkfs: "-d raid6 -m raid1 --csum xxhash", mount: "compress=zstd", all: true},
	{disks: 5, mkfs: "-d raid0 -m raid5 -R ^free-space-tree", all: true},
	{disks: 3, mkfs: "-M -d raid5 -m raid5 -n 4096", all: true},
	{disks: 4, mkfs: "-d raid1c4 -m raid1c4 -n 32768", all: true},
}

// variantLoad makes a variety of objects in few commits.
const variantLoad = `
	mkdir d; for i in 1 2 3 4 5 6 7 8 9; do head -c $((i * i * 700)) /dev/urandom > d/f$i; done
	head -c 3000000 /dev/zero | tr '\0' 'a' > zeros; head -c 900000 /dev/urandom > random
	ln d/f1 d/link; ln -s f1 d/soft; mkfifo d/fifo
	setfattr -n user.a -v "$(head -c 900 /dev/zero | tr '\0' x)" d/f2
	for i in $(seq 0 $((${LINKS:-120} - 1))); do
		ln d/f3 d/a-name-that-is-long-enough-to-fill-an-inode-reference-item-$i
	done
	sync -f .
	btrfs -q subvolume create sub; cp --reflink random sub/copy
	fallocate -l 300k prealloc
	dd if=/dev/urandom of=prealloc bs=4k count=3 seek=5 conv=notrunc 2> /dev/null
	truncate -s 1M sparse
	dd if=/dev/urandom of=sparse bs=4k count=1 seek=100 conv=notrunc 2> /dev/null
	mkdir nocow; chattr +C nocow; head -c 50000 /dev/urandom > nocow/file
	for i in 1 2 3; do echo $i >> d/log; sync d/log; done
	sync -f .
	btrfs -q subvolume snapshot sub snap; btrfs -q subvolume snapshot -r . ro
	dd if=/dev/urandom of=sub/copy bs=4k count=2 seek=3 conv=notrunc 2> /dev/null
	rm d/f5 d/f6; mv d/f7 sub/
	rm d/a-name-that-is-long-enough-to-fill-an-inode-reference-item-1*
	sync -f .
	btrfs -q subvolume delete snap; truncate -s 100k zeros; fallocate -p -o 4096 -l 8192 random
	sync -f .`

// TestVariants runs every supported way to make and mount Btrfs under a load of few commits:
// nothing is refused or undecided, and btrfs check finds each result sound. FSWARD_VARIANTS=all
// includes those that take long.
func TestVariants(t *testing.T) {
	commits := 0
	for _, v := range variants {
		if v.all && os.Getenv("FSWARD_VARIANTS") != "all" {
			continue
		}
		t.Run(v.name(), func(t *testing.T) {
			r := guardtest.AttachDisks(t, guardtest.MadeDisks(t, v.disks, 256<<20,
				strings.Fields(v.mkfs)...), nil)
			r.MustMount("btrfs", strings.Split(v.mount, ",")...)
			r.MustRun(v.more + variantLoad)
			n := finish(r, v.more != simpleQuota) // btrfs check knows simple quota from 6.7 on
			if n < 4 {
				t.Errorf("%d commits were checked, want at least 4", n)
			}
			commits += n
		})
	}
	t.Logf("%d commits in all", commits)
}

// finish unmounts a Btrfs, checks its disks with fsward check, and with btrfs check if that can,
// and ends the rig. It returns the number of commits.
func finish(r *guardtest.Rig, peer bool) int {
	r.T.Helper()
	if err := r.Unmount(); err != nil {
		r.T.Fatal(err)
	}
	if peer {
		guardtest.Run(r.T, "btrfs", "check", r.LoopDev) // finds the other devices by itself
	}
	commits := r.NoAlarm()
	r.End()
	ev, err := offline.Check(r.T.Context(), r.Images, detect.Auto, guard.RulesConfig{})
	if err != nil {
		r.T.Fatal(err)
	}
	if ev.Outcome != change.Holds {
		r.T.Errorf("false alarm: %s", guardtest.TextOf(ev))
	}
	return commits
}
