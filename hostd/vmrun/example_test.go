package vmrun_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/vmrun"
	"fsward/interp/detect"
)

// Run opens the disks before it starts the guest.
func ExampleRun() {
	cfg := vmrun.Config{Config: daemon.Config{Config: guard.Config{FS: detect.Auto,
		Disks:    []guard.DiskSpec{{Name: "root", Path: "missing.img"}},
		Policies: guard.Policies{OnViolation: guard.OnRefuse}}}}
	_, _, err := vmrun.Run(context.Background(), cfg, zap.NewNop())
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}
