package usermode

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fsward/explore/ramdisk"
	"fsward/repair/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Inside() {
		sandbox.Main()
		return
	}
	os.Exit(m.Run())
}

// newMachine returns a machine that does not boot: its initramfs is empty.
func newMachine(t *testing.T) *Machine {
	t.Helper()
	initramfs := filepath.Join(t.TempDir(), "initramfs")
	if err := os.WriteFile(initramfs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := New(Config{Initramfs: initramfs, MemoryMiB: 64, DiskBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(m.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", m.dir, err)
		}
	})
	return m
}

// What needs a log is refused.
func TestUnsupported(t *testing.T) {
	m, ctx := newMachine(t), t.Context()
	if err := m.MakeDisk(ctx, 0, 2*ramdisk.PageSize); err != nil {
		t.Fatal(err)
	}
	if err := m.MakeDisk(ctx, 0, ramdisk.PageSize); err == nil {
		t.Error("a disk is made twice")
	}
	if err := m.ready(ctx); err == nil {
		t.Error("a kernel gets a disk that cannot be restored")
	}
	if err := m.Snapshot(ctx, 0, "a"); err != nil {
		t.Fatal(err)
	}
	_, records := m.Records(ctx)
	for name, err := range map[string]error{
		"log": m.Log(ctx, 0, true), "mark": m.Mark(ctx, "x"), "records": records,
	} {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m.Restore(ctx, 0, "b") == nil || m.Restore(ctx, 1, "a") == nil {
		t.Error("a snapshot that is not there is restored")
	}
	if err := m.RemoveDisk(ctx, 0); err != nil {
		t.Error(err)
	}
	if err := m.MakeDisk(ctx, 0, ramdisk.PageSize); err != nil {
		t.Error(err)
	}
}

// A machine without its initramfs is refused at once.
func TestNoInitramfs(t *testing.T) {
	if _, err := New(Config{Initramfs: t.TempDir() + "/none"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
