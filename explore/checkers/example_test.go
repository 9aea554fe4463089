package checkers_test

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/exploretest"
)

// A checker finds a file system that gives a wrong result. The machine here is simulated, and
// refuses all operations with EPERM.
func ExampleNew() {
	kind, err := component.Load("ext3")
	if err != nil {
		fmt.Println(err)
		return
	}
	ext3, err := kind.New("/mnt/a", component.Options{}, explore.RAMDisk(0, kind.Bytes))
	if err != nil {
		fmt.Println(err)
		return
	}
	checker, err := checkers.New("sync", ext3, ext3.Promises, checkers.Limits{Files: 1, Dirs: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	machine := exploretest.New()
	machine.Perform = func(*exploretest.System, agent.Op) agent.Result {
		return agent.Result{Errno: unix.EPERM}
	}
	e := explore.NewEnv(context.Background(), machine, new(explore.Chooser))
	err = errors.Join(checker.Init(e), checker.Mutate(e))
	fmt.Println(err)
	// Output:
	// wrong result: open(#0, /na, O_WRONLY|O_CREAT|O_EXCL) gives EPERM, and should give success
}
