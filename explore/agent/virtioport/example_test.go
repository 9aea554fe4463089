package virtioport_test

import (
	"fmt"

	"fsward/explore/agent/virtioport"
)

// Find returns the device of a port by the name of the port, such as /dev/vport0p1. The machine
// that runs this example has no such port.
func ExampleFind() {
	device, err := virtioport.Find("org.example.none")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(device)
	// Output: no virtio-serial port has the name org.example.none
}
