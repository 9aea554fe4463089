// Package host joins the explorer with the host. It boots through libvirt the guests that storage
// is explored in, and guards the disks of an explored stack. Start reading at WithMachine.
package host

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/hostd/vm"
)

// GuestConfig describes the guest that storage is explored in.
type GuestConfig struct {
	Dir string // folder of vmlinuz and explorer.cpio.zst, which make guest makes
	// MemoryMiB is the memory of the guest beside what Needs take. 0 selects 384.
	MemoryMiB uint
	Needs     guest.Needs // of the stack
	// LogMiB is the size of the RAM disks' log, which is rounded up to a power of two, at most 1024.
	// One step, with all steps before it, may write this much. 0 selects 64.
	LogMiB  uint
	Console string // file for the guest's console; "" for none
	// OnEmulated, if not nil, is called when a guest has booted without KVM.
	OnEmulated func()
}

// Names of the folder that a machine has while it exists, and of the run directory in it.
const (
	exploreDirs = "fsward-explore-"
	exploreRun  = "run"
)

// maxLogMiB is the limit of the RAM disks' module.
const maxLogMiB = 1024

// exploreSilence is how long an emulated guest on a busy host may stay silent.
const exploreSilence = 30 * time.Second

// errNoFiles means that the kernel or the initramfs is missing.
var errNoFiles = errors.New("the guest's files are missing: make guest makes them in build/guest")

// WithMachine boots a guest, calls f with its Machine, and ends the guest. The error matches
// os.ErrNotExist if the guest's files are missing.
func WithMachine(ctx context.Context, cfg GuestConfig, log *zap.Logger,
	f func(m *machine.Machine) error) (err error) {
	if err := vm.Supported(); err != nil {
		return err
	}
	if cfg.MemoryMiB == 0 {
		cfg.MemoryMiB = 384
	}
	switch {
	case cfg.LogMiB == 0:
		cfg.LogMiB = 64
	case cfg.LogMiB > maxLogMiB:
		return fmt.Errorf("the log of the RAM disks has at most %d MiB, not %d", maxLogMiB, cfg.LogMiB)
	default:
		cfg.LogMiB = 1 << bits.Len(cfg.LogMiB-1)
	}
	files := guest.Files{Kernel: filepath.Join(cfg.Dir, "vmlinuz"),
		Initramfs: filepath.Join(cfg.Dir, "explorer.cpio.zst")}
	for _, name := range []string{files.Kernel, files.Initramfs} {
		if _, err := os.Stat(name); err != nil {
			return errors.Join(errNoFiles, err)
		}
	}
	if err := vm.RemoveAbandoned(ctx, filepath.Join(os.TempDir(), exploreDirs+"*"),
		exploreRun); err != nil {
		log.Warn("cannot remove the files of a killed run", zap.Error(err))
	}
	dir, err := os.MkdirTemp("", exploreDirs)
	if err != nil {
		return err
	}
	defer func() {
		if cfg.Console != "" {
			err = errors.Join(err, copyIfThere(filepath.Join(dir, guestName+".console"), cfg.Console))
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if !cfg.Needs.None() {
		if err := addNeeds(ctx, &cfg, &files, dir); err != nil {
			return err
		}
	}
	host, err := vm.Connect(ctx, filepath.Join(dir, exploreRun), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	g, err := guest.Start(ctx, Hypervisor{host},
		guest.Config{Name: guestName, Files: files, Dir: dir, MemoryMiB: cfg.MemoryMiB,
			LogMiB: cfg.LogMiB, Silence: exploreSilence}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if cfg.OnEmulated != nil && host.Emulated() {
		cfg.OnEmulated()
	}
	return f(machine.New(g))
}

// addNeeds adds what a stack needs to the initramfs, in a file in dir, and the memory for it.
func addNeeds(ctx context.Context, cfg *GuestConfig, files *guest.Files, dir string) error {
	overlay, mib, err := cfg.Needs.Overlay(ctx, cfg.Dir)
	if err != nil {
		return err
	}
	cfg.MemoryMiB += 2 * mib // the files, and their archive while it is unpacked
	joined := filepath.Join(dir, "initramfs")
	if err := guest.Join(joined, files.Initramfs, overlay); err != nil {
		return err
	}
	files.Initramfs = joined
	return nil
}

// guestName is the name of the domain.
const guestName = "fsward-explore"

// copyIfThere copies a file if it exists.
func copyIfThere(from, to string) error {
	b, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(to, b, 0o644))
}
