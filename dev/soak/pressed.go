package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
)

// Bounds of the steps of a judgment in a round of -pressed, and the memory of a disk in bytes; 0 is
// the default. A commit that does not fit into the memory is judged part by part.
const (
	fewestSteps = 1_000
	mostSteps   = 1_000_000
)

var pressedMemory = []uint64{2 << 20, 4 << 20, 16 << 20, 0}

// press makes a guard judge with few steps and little memory, and let undecided commits pass.
func (r *round) press(cfg *guard.Config) {
	base := fewestSteps * math.Pow(mostSteps/fewestSteps, r.random.Float64())
	cfg.Work = change.WorkLimits{Base: int64(base)}
	if r.random.IntN(2) == 0 {
		cfg.Work.PerBlock, cfg.Work.PerRecord = r.random.Int64N(400), r.random.Int64N(100)
	}
	cfg.Memory = memory.Limits{PerDisk: pressedMemory[r.random.IntN(len(pressedMemory))]}
	cfg.Memory.NoReserve = cfg.Memory.PerDisk > 0
	cfg.Policies.OnUndecided = guard.OnPass
	fmt.Fprintf(r.out, "soak: round %d: %+v steps, %d bytes of memory\n", r.number, cfg.Work,
		cfg.Memory.Disk())
}

const (
	reloadEvery = 200 * time.Millisecond
	// verifyTime is enough for two checks of a volume and the pause between them.
	verifyTime = 3 * time.Minute
)

// beside reads the rules again and again until the load has ended. Then all volumes must become
// verified.
func (r *round) beside(loaded context.Context, d *guard.Disks) error {
	for running := true; running; {
		select {
		case <-loaded.Done():
			running = false
		case <-time.After(reloadEvery):
			if _, err := d.Reload(); err != nil {
				return err
			}
		}
	}
	for end := time.Now().Add(verifyTime); ; time.Sleep(100 * time.Millisecond) {
		open := ""
		for _, v := range d.Status() {
			if v.Unverified != nil {
				open = v.State
			}
		}
		if open == "" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("a volume is %s, %v after the load has ended", open, verifyTime)
		}
	}
}
