package vm_test

import (
	"fmt"

	"fsward/hostd/vm"
)

// A guest that powered off ended cleanly. A guest whose kernel panicked did not.
func ExampleEnd_Clean() {
	for _, end := range []vm.End{{Cause: vm.CauseShutdown}, {Cause: vm.CauseDestroyed, Panic: true}} {
		fmt.Println(end, end.Clean())
	}
	// Output:
	// shutdown true
	// kernel panic false
}
