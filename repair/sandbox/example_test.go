package sandbox_test

import (
	"fmt"
	"time"

	"fsward/repair/sandbox"
)

// A program in a Box writes only to its Work folder. The process that Start starts must call Main:
// see TestMain.
func ExampleBox_Run() {
	box, err := sandbox.Start(sandbox.Config{WorkBytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer box.Close()
	r, err := box.Run(sandbox.Command{
		Argv: []string{"sh", "-c", "echo a > a && echo made; (echo b > /b) 2> /dev/null || exit 3"},
		Env:  []string{"PATH=/usr/bin:/bin"}, Time: time.Minute, OutputBytes: 4096,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s%d\n", r.Output, r.Status)
	// Output:
	// made
	// 3
}
