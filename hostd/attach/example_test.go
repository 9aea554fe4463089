package attach_test

import (
	"fmt"
	"time"

	"fsward/hostd/attach"
)

// QEMU connects to the guard's socket, or to that of a proxy beside it.
func ExampleOptions_ProxySocket() {
	opt := attach.Options{Socket: "/run/fsward/vm.sock", Reconnect: time.Minute}
	fmt.Println(opt.ProxySocket())
	// Output: /run/fsward/vm.proxy.sock
}
