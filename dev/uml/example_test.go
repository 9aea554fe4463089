package uml_test

import (
	"fmt"

	"fsward/dev/uml"
)

func ExampleModules() {
	fmt.Println(uml.Modules)
	// Output: /usr/lib/uml/modules
}
