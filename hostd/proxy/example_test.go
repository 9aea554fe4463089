package proxy_test

import (
	"fmt"
	"time"

	"fsward/hostd/proxy"
)

// Exec becomes the proxy of a configuration that Check accepts.
func ExampleConfig_Check() {
	c := proxy.Config{Guard: "/run/vm.sock", Disks: []string{"vda", "vdb"}, Wait: time.Minute}
	fmt.Println(c.Check())
	c.Disks = append(c.Disks, "vda")
	fmt.Println(c.Check())
	// Output:
	// <nil>
	// disk "vda" is empty or named twice
}
