package machine_test

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"fsward/explore/agent"
	"fsward/explore/host"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
)

// A Machine runs a command in a guest and returns the bios that the command submits to a RAM disk.
// It needs the files that make guest makes, so that this example is not run.
func ExampleMachine() {
	ctx, cfg := context.Background(), host.GuestConfig{Dir: "build/guest"}
	err := host.WithMachine(ctx, cfg, zap.NewNop(), func(m *machine.Machine) error {
		if err := m.MakeDisk(ctx, 0, 16<<20); err != nil { // /dev/fswrd0
			return err
		}
		if err := m.Log(ctx, 0, true); err != nil {
			return err
		}
		mkfs := []string{"mke2fs", "-q", "-t", "ext3", "/dev/fswrd0"}
		exit, err := m.Run(ctx, agent.Command{Args: mkfs, Timeout: time.Minute})
		if err != nil {
			return err
		}
		fmt.Println("exit status", exit.Code)
		records, err := m.Records(ctx)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Type == ramdisk.Submit && r.Op == ramdisk.Write {
				fmt.Println(r.Seq, r.Sector, r.Len)
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
}
