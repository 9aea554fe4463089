package component_test

import (
	"testing"

	"fsward/explore"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/interp"
)

func stand(t *testing.T, kind, at string, on ...explore.Component) *component.Component {
	t.Helper()
	k, err := component.Load(kind)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.New(at, component.Options{}, on...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An account is kept where all of a stack say what need not be durable, and where it is known at which place of which disk that is.
func TestAccountOfStacks(t *testing.T) {
	disks := []explore.Component{explore.RAMDisk(0, 128<<20), explore.RAMDisk(1, 128<<20)}
	array := stand(t, "raid", "/dev/md0", disks...)
	for _, c := range []struct {
		name string
		top  *component.Component
		kept bool
	}{
		{"ext3 on a disk", stand(t, "ext3", "/mnt", disks[0]), true},
		{"Btrfs on two disks", stand(t, "btrfs", "/mnt", disks...), true},
		{"ext3 on a mirror", stand(t, "ext3", "/mnt", array), true},
		{"Btrfs on a mirror, where its second superblock is nobody knows where", stand(t, "btrfs", "/mnt", array), false},
		{"XFS, whose log does not have whole blocks", stand(t, "xfs", "/mnt", disks[0]), false},
	} {
		if got := c.top.NewAccount() != nil; got != c.kept {
			t.Errorf("%s: an account is kept: %t", c.name, got)
		}
	}
}

// The second superblock of Btrfs need not be durable, on each of its disks; what stands beside it has to.
func TestSpareOnEachDisk(t *testing.T) {
	const second = 64 << 20
	top := stand(t, "btrfs", "/mnt", explore.RAMDisk(0, 128<<20), explore.RAMDisk(3, 128<<20))
	for _, c := range []struct {
		off  uint64
		owed bool
	}{
		{second, false}, {interp.Address(1, second), false}, {second + 4096, true}, {interp.Address(1, second-4096), true},
		{interp.Address(1, second) + 1, true},
	} {
		a := top.NewAccount()()
		if err := a.Add(crash.Event{Kind: crash.Issued, Write: crash.Write{ID: 1, Off: c.off, Len: 4096}}); err != nil {
			t.Fatal(err)
		}
		if d, owed := a.Return("sync", durable.All, 1); owed != c.owed {
			t.Errorf("at %#x: %v, %t", c.off, d, owed)
		}
	}
}
