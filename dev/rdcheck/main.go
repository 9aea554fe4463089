// Command rdcheck checks the kernel module fsw_ramdisk in a guest. Each check drives the module
// through explore/ramdisk. Package guestcheck runs the checks and reports their results. Start
// reading at main.
package main

import (
	"errors"
	"fmt"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

func main() {
	ours := []guestcheck.Module{{Name: "fsw_ramdisk"}}
	small := []guestcheck.Module{{Name: "fsw_ramdisk", Params: "log_mib=1"}}
	hold := fmt.Sprintf("hold_ms=%d", holdTime.Milliseconds())
	shortHold := []guestcheck.Module{{Name: "fsw_ramdisk", Params: hold}}
	guestcheck.Main([]guestcheck.Check{
		{Name: "mount", Modules: ours, Run: with(checkMount)},
		{Name: "log-ext3", Modules: ours, Run: with(checkLogExt3)},
		{Name: "log-btrfs", Modules: ours, Run: with(checkLogBtrfs)},
		{Name: "ioctl", Modules: ours, Run: with(checkIoctl)},
		{Name: "overflow", Modules: small, Run: with(checkOverflow)},
		{Name: "tree", Modules: ours, Run: with(checkTree)},
		{Name: "load", Modules: ours, Run: with(checkLoad)},
		{Name: "time", Modules: ours, Run: with(checkTime)},
		{Name: "rate", Modules: ours, Run: with(checkRate)},
		{Name: "inject", Modules: ours, Run: with(checkInject)},
		{Name: "guard", Modules: ours, Run: with(checkGuard)},
		{Name: "patience", Modules: shortHold, Run: with(checkHoldTime)},
		{Name: "cycles", Run: checkCycles},
	})
}

// with returns a function that opens the module's control device and runs a check with it.
func with(run func(c *ramdisk.Control) error) func() error {
	return func() error {
		c, err := ramdisk.Open()
		if err != nil {
			return err
		}
		return errors.Join(run(c), c.Close())
	}
}
