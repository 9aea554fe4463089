package spec_test

import (
	"slices"
	"strings"
	"testing"
	"time"

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

// Steps run in user-mode Linux also with other layers. What needs a module of fsward is refused.
func TestRunInUserMode(t *testing.T) {
	ext3, err := spec.FileSystem("ext3", "", "", "sync", "")
	if err != nil {
		t.Fatal(err)
	}
	raid, err := spec.Load("raid")
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := spec.FileSystem("ext3", "", "", "sync", "")
	if err != nil {
		t.Fatal(err)
	}
	guarded.Guarded = []string{"/dev/fswrd0"}
	silent, err := spec.FileSystem("ext3", "", "", "silent", "")
	if err != nil {
		t.Fatal(err)
	}
	nested, err := spec.Load("vm-linux")
	if err != nil {
		t.Fatal(err)
	}
	n, err := raid.UserMode()
	if err != nil || n.Layer == "" {
		t.Errorf("raid: %+v, %v", n, err)
	}
	for _, run := range []spec.Run{{Spec: ext3}, {Spec: raid}, {Spec: ext3, Recovery: true},
		{Spec: ext3, RecoverIn: spec.InUserMode}} {
		run.RunIn = spec.InUserMode
		if cfg, err := run.Config(); err != nil || cfg.Restore != explore.ByReplay {
			t.Errorf("%s: %q, %v", run.Spec, cfg.Restore, err)
		}
	}
	for want, run := range map[string]spec.Run{
		"faults are injected":    {Spec: ext3, MaxFaults: 1},
		"choices of the kernel":  {Spec: ext3, KernelChoices: true},
		"the kernel is checked":  {Spec: ext3, KernelChecks: "all"},
		"threads are held":       {Spec: ext3, Threads: time.Second},
		"the write set":          {Spec: ext3, From: explore.FromWriteSet},
		"makes checkpoints":      {Spec: ext3, Restore: explore.ByCheckpoint},
		"guarded disks":          {Spec: guarded},
		"allocations fail":       {Spec: silent},
		"does not run in itself": {Spec: nested},
	} {
		run.RunIn = spec.InUserMode
		if _, err := run.Config(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
