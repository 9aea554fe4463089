package daemon_test

import (
	"fmt"

	"fsward/hostd/daemon"
)

// Address accepts unix:PATH and plain paths.
func ExampleAddress() {
	fmt.Println(daemon.Address("unix:/run/vm.sock"))
	fmt.Println(daemon.Address("tcp://1.2.3.4"))
	// Output:
	// /run/vm.sock <nil>
	//  --listen "tcp://1.2.3.4": expected unix:PATH or systemd:NAME
}
