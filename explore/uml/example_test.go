package uml_test

import (
	"fmt"

	"fsward/explore/uml"
)

func ExampleModules() {
	fmt.Println(uml.Modules)
	// Output: /usr/lib/uml/modules
}
