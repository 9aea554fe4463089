package mix_test

import (
	"fmt"

	"fsward/dev/mix"
)

// A seed determines a mixture. Each step has a weight, an operation and its files.
func ExampleRandom() {
	for _, phase := range mix.Random("ext3", 7).Phases {
		for _, s := range phase.Steps {
			fmt.Print(s.Weight, " ", s.Op, " ", s.On, "; ")
		}
		fmt.Println(phase.Once)
	}
	// Output:
	// 8 write few; 2 setxattr one; 2 create any; []
	// 2 link any; 8 rename one; 4 fsync one; [chown-all]
	// 4 fallocate one; 1 link one; 1 punch any; [remove-all]
}
