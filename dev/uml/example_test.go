package uml_test

import (
	"fmt"

	"fsward/dev/uml"
)

// Modules is the folder of Debian's package.
func ExampleModules() {
	fmt.Println(uml.Modules)
	// Output: /usr/lib/uml/modules
}
