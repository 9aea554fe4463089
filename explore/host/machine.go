// Package host joins the explorer with the host: it boots the guests that storage is explored in through libvirt, and guards the disks
// of an explored stack. Start reading at WithMachine.
package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/hostd/vm"
)

// ExploreGuest is the guest that storage is explored in.
type GuestConfig struct {
	Dir       string // of vmlinuz and explorer.cpio.zst, as make guest makes them
	MemoryMiB uint   // 0: 384
	LogMiB    uint   // of the RAM disks' log: what one step with all before it may write. 0: 64
	Console   string // file of its console; "": none is kept
}

// Names of the folders that a machine has while it is there, and of the run directory in them.
const (
	exploreDirs = "fsward-explore-"
	exploreRun  = "run"
)

// exploreSilence is how long a guest that is emulated on a busy host may not answer.
const exploreSilence = 30 * time.Second

// WithMachine boots a guest, calls f with it as a System, and ends it.
func WithMachine(ctx context.Context, cfg GuestConfig, log *zap.Logger, f func(m *machine.Machine) error) (err error) {
	if err := vm.Supported(); err != nil {
		return err
	}
	if cfg.MemoryMiB == 0 {
		cfg.MemoryMiB = 384
	}
	if cfg.LogMiB == 0 {
		cfg.LogMiB = 64
	}
	files := guest.Files{Kernel: filepath.Join(cfg.Dir, "vmlinuz"), Initramfs: filepath.Join(cfg.Dir, "explorer.cpio.zst")}
	for _, name := range []string{files.Kernel, files.Initramfs} {
		if _, err := os.Stat(name); err != nil {
			return errors.Join(errors.New("the guest's files are not there; make guest makes them in build/guest"), err)
		}
	}
	if err := vm.RemoveAbandoned(ctx, filepath.Join(os.TempDir(), exploreDirs+"*"), exploreRun); err != nil {
		log.Warn("what a run that was killed has left could not be removed", zap.Error(err))
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
	host, err := vm.Connect(ctx, filepath.Join(dir, exploreRun), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	g, err := guest.Start(ctx, Hypervisor{host}, guest.Config{Name: guestName, Files: files, Dir: dir, MemoryMiB: cfg.MemoryMiB,
		LogMiB: cfg.LogMiB, Silence: exploreSilence}, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return f(machine.New(g))
}

// guestName is the domain's.
const guestName = "fsward-explore"

func copyIfThere(from, to string) error {
	b, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(to, b, 0o644))
}
