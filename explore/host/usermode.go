package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"fsward/explore/guest"
	"fsward/explore/uml"
	"fsward/explore/usermode"
)

// userModeMiB is the memory of user-mode Linux that only recovers. Its initramfs takes 45 MiB of
// it.
const userModeMiB = 192

// UserModeConfig describes a machine of user-mode Linux. With LogMiB 0 it only recovers crash
// states. MemoryMiB 0 selects what that takes.
type UserModeConfig struct {
	GuestConfig
	DiskBytes uint64 // of all disks
}

// CheckUserMode returns an error if user-mode Linux is missing, or lacks a file system or a module.
// types are the names of file systems for mount(2).
func CheckUserMode(types, modules []string) error {
	if _, err := exec.LookPath("linux.uml"); err != nil {
		return fmt.Errorf("user-mode Linux is missing: apt-get install user-mode-linux: %w", err)
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		return fmt.Errorf("user-mode Linux needs a compiler: apt-get install gcc: %w", err)
	}
	for _, typ := range types {
		if err := uml.CanMount(typ); err != nil {
			return err
		}
	}
	for _, name := range modules {
		if err := uml.CanLoad(name); err != nil {
			return err
		}
	}
	return nil
}

// WithUserMode calls f with a machine of user-mode Linux, and ends the machine.
func WithUserMode(ctx context.Context, cfg UserModeConfig,
	f func(m *usermode.Machine) error) (err error) {
	dir, err := os.MkdirTemp("", exploreDirs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	files := guest.Files{Initramfs: filepath.Join(cfg.Dir, "explorer.cpio.zst")}
	if cfg.MemoryMiB == 0 {
		cfg.MemoryMiB = userModeMiB
	}
	cfg.Needs.Modules = nil // of the guest's kernel
	if !cfg.Needs.None() {
		if err := addNeeds(ctx, &cfg.GuestConfig, &files, dir); err != nil {
			return err
		}
	}
	// Each disk is there twice: as it was, and as the kernel changes it.
	m, err := usermode.New(usermode.Config{Initramfs: files.Initramfs, MemoryMiB: cfg.MemoryMiB,
		LogMiB: cfg.LogMiB, DiskBytes: 2 * cfg.DiskBytes})
	if errors.Is(err, os.ErrNotExist) {
		err = errors.Join(errNoFiles, err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return f(m)
}
