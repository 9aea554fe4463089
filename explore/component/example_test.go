package component_test

import (
	"context"
	"fmt"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/exploretest"
)

// A component creates and verifies a file system with the commands of its YAML file. The machine
// here is simulated. It prints each command and the device.
func ExampleLoad() {
	kind, err := component.Load("ext3")
	if err != nil {
		fmt.Println(err)
		return
	}
	options := component.Options{Mkfs: "-b 1024"}
	ext3, err := kind.New("/mnt/a", options, explore.RAMDisk(0, kind.Bytes))
	if err != nil {
		fmt.Println(err)
		return
	}
	machine := exploretest.New()
	machine.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		fmt.Printf("%s\n%s\n", c.Env[0], c.Args[2])
		return agent.Exit{}, nil
	}
	e := explore.NewEnv(context.Background(), machine, new(explore.Chooser))
	for _, do := range []func(*explore.Env) error{ext3.Init, ext3.Verify} {
		if err := do(e); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("renames are atomic:", ext3.Promises.AtomicRename)
	// Output:
	// DEVICE=/dev/fswrd0
	// mke2fs -q -F -t ext3 -E nodiscard,lazy_itable_init=0 -i 32768 $MKFS_OPTIONS $DEVICE
	// DEVICE=/dev/fswrd0
	// e2fsck -fn $DEVICE
	// renames are atomic: true
}
