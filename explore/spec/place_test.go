package spec_test

import (
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/spec"
)

// A file system on disks can be recovered in user-mode Linux.
func TestUserMode(t *testing.T) {
	s, err := spec.FileSystem("btrfs", "", "", "sync", "64M")
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.UserMode()
	if err != nil || n.Bytes != 64<<20 || !slices.Equal(n.Types, []string{"btrfs"}) || n.Layer != "" {
		t.Errorf("%+v, %v", n, err)
	}
	if cfg, err := (spec.Run{Spec: s, RecoverIn: spec.InUserMode}).Config(); err != nil ||
		cfg.Recovery != nil {
		t.Errorf("%+v, %v", cfg.Recovery, err)
	}
}

// Stacks with other layers, and options that need a module while a crash state is recovered, are
// refused, and the reason is named.
func TestUserModeRefused(t *testing.T) {
	ext3, err := spec.FileSystem("ext3", "", "", "sync", "")
	if err != nil {
		t.Fatal(err)
	}
	leaks, err := spec.FileSystem("ext3", "", "", "leaks", "")
	if err != nil {
		t.Fatal(err)
	}
	raid, err := spec.Load("raid")
	if err != nil {
		t.Fatal(err)
	}
	for want, run := range map[string]spec.Run{
		"not a file system on disks": {Spec: raid},
		"the log of its writes":      {Spec: ext3, Recovery: true},
		"writes of recoveries":       {Spec: ext3, Strategy: explore.MostRecovery},
		"injected faults":            {Spec: ext3, MaxFaults: 1},
		"choices of the kernel":      {Spec: ext3, KernelChoices: true},
		"without recovery":           {Spec: ext3, HostOnly: true},
		"asks for no crashes":        {Spec: leaks},
	} {
		run.RecoverIn = spec.InUserMode
		if _, err := run.Config(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		run.RecoverIn = spec.InGuest
		if _, err := run.Config(); err != nil {
			t.Errorf("%s: in the guest: %v", want, err)
		}
	}
	if _, err := (spec.Run{Spec: ext3, RecoverIn: "vm"}).Config(); err == nil {
		t.Error("an unknown place is accepted")
	}
}
