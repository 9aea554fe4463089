package explore_test

import (
	"fmt"

	"fsward/explore"
)

const (
	dir  = "/mnt/sbd0/test-dir"
	file = "/mnt/sbd0/test-file"
)

// FsChecker is the checker in figure 2 of EXPLODE: a file that was written synchronously exists
// after a crash.
type FsChecker struct{ explore.Plain }

func (FsChecker) Mutate(e *explore.Env) error {
	switch e.Choose(4) {
	case 0:
		_ = e.Sh("mkdir %s%d", dir, e.Choose(5))
	case 1:
		_ = e.Sh("rmdir %s%d", dir, e.Choose(5))
	case 2:
		_ = e.Sh("rm %s", file)
	case 3:
		_ = e.Sh("echo test > %s", file)
		if e.Choose(2) == 0 {
			_ = e.Sync()
		} else {
			_ = e.Fsync(file)
			_ = e.Fsync("/mnt/sbd0") // the new directory entry
		}
		return e.CheckCrashesNow(nil)
	}
	return nil
}

func (FsChecker) Check(e *explore.Env, _ explore.Crash) error {
	data, err := e.ReadFile(file)
	if err != nil {
		return explore.Failuref("file gone", "%s: %v", file, err)
	}
	if string(data) != "test\n" {
		return explore.Failuref("wrong contents", "%s has %q", file, data)
	}
	return nil
}

// Ext3 is the component in figure 4 of EXPLODE.
type Ext3 struct {
	explore.Node
	BlockSize int
}

func (x *Ext3) Init(e *explore.Env) error {
	return e.Sh("mkfs.ext3 -F -j -b %d %s", x.BlockSize, x.On[0].Path())
}

func (x *Ext3) Recover(e *explore.Env) error {
	return e.Sh("fsck.ext3 -y %s; [ $? -le 1 ]", x.On[0].Path())
}

func (x *Ext3) Mount(e *explore.Env) error {
	return e.Sh("mkdir -p %s; mount -t ext3 %[2]s %[1]s", x.At, x.On[0].Path())
}

func (x *Ext3) Unmount(e *explore.Env) error { return e.Sh("umount %s", x.At) }

// Raid is the RAID component, which figure 5 of EXPLODE leaves out.
type Raid struct {
	explore.Node
	Level string
}

func (r *Raid) Mount(e *explore.Env) error {
	return e.Sh("mdadm --assemble %s %s %s", r.At, r.On[0].Path(), r.On[1].Path())
}

func (r *Raid) Init(e *explore.Env) error {
	return e.Sh("mdadm --create %s --run -l %s -n 2 %s %s; mdadm -S %[1]s",
		r.At, r.Level, r.On[0].Path(), r.On[1].Path())
}

func (r *Raid) Unmount(e *explore.Env) error { return e.Sh("mdadm -S %s", r.At) }

// The stack in figure 5 of EXPLODE: the checker on ext3, on a mirrored RAID array of two RAM disks.
func ExampleStack() {
	d1, d2 := explore.RAMDisk(0, 16<<20), explore.RAMDisk(1, 16<<20)
	raid := &Raid{explore.Node{At: "/dev/md0", On: []explore.Component{d1, d2}}, "raid1"}
	ext3 := &Ext3{explore.Node{At: "/mnt/sbd0", On: []explore.Component{raid}}, 1024}
	stack := explore.Stack{Top: ext3, Checker: FsChecker{}}

	for _, c := range stack.Components() {
		fmt.Println(c.Path())
	}
	// Output:
	// /dev/fswrd0
	// /dev/fswrd1
	// /dev/md0
	// /mnt/sbd0
}
