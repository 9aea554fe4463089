package component_test

import (
	"testing"

	"fsward/explore"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/durable"
	"fsward/interp"
)

// newComponent returns a component of a shipped kind, without options.
func newComponent(
	t *testing.T, kind, at string, on ...explore.Component,
) *component.Component {
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

// TestAccountOfStacks: there is flush accounting only if each component of a stack has an Account,
// and the places of spare ranges on the disks are known.
func TestAccountOfStacks(t *testing.T) {
	disks := []explore.Component{explore.RAMDisk(0, 128<<20), explore.RAMDisk(1, 128<<20)}
	array := newComponent(t, "raid", "/dev/md0", disks...)
	for _, c := range []struct {
		name string
		top  *component.Component
		kept bool
	}{
		{"ext3 on a disk", newComponent(t, "ext3", "/mnt", disks[0]), true},
		{"Btrfs on two disks", newComponent(t, "btrfs", "/mnt", disks...), true},
		{"ext3 on a mirror", newComponent(t, "ext3", "/mnt", array), true},
		{
			"Btrfs on a mirror: the place of its second superblock is unknown",
			newComponent(t, "btrfs", "/mnt", array), false,
		},
		{
			"XFS: its log does not contain whole blocks",
			newComponent(t, "xfs", "/mnt", disks[0]), false,
		},
	} {
		if got := c.top.NewAccount() != nil; got != c.kept {
			t.Errorf("%s: flush accounting is %t, want %t", c.name, got, c.kept)
		}
	}
}

// TestSpareOnEachDisk: the second superblock of Btrfs need not be durable on any of its disks. The
// bytes beside it have to be.
func TestSpareOnEachDisk(t *testing.T) {
	const second = 64 << 20
	disks := []explore.Component{explore.RAMDisk(0, 128<<20), explore.RAMDisk(3, 128<<20)}
	top := newComponent(t, "btrfs", "/mnt", disks...)
	for _, c := range []struct {
		off  uint64
		debt bool
	}{
		{second, false},
		{interp.Address(1, second), false},
		{second + 4096, true},
		{interp.Address(1, second-4096), true},
		{interp.Address(1, second) + 1, true},
	} {
		a := top.NewAccount()()
		write := crash.Write{ID: 1, Off: c.off, Len: 4096}
		if err := a.Add(crash.Event{Kind: crash.Issued, Write: write}); err != nil {
			t.Fatal(err)
		}
		if d, debt := a.Return("sync", durable.All, 1); debt != c.debt {
			t.Errorf("at %#x: %v, %t, want %t", c.off, d, debt, c.debt)
		}
	}
}
