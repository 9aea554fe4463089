package checkerbuild_test

import (
	"context"
	"fmt"

	"fsward/dev/checkerbuild"
	"fsward/repair/adapter"
)

// Builds e2fsck for a debugger. This takes minutes, so that the example is not run.
func Example() {
	ctx := context.Background()
	program, _, err := adapter.Find("e2fsck", "ext3")
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := checkerbuild.New(ctx, "build/planted/e2fsprogs", program.Rebuild, "CFLAGS=-O0 -g")
	if err == nil {
		err = b.Program(ctx, "build/e2fsck-debug")
	}
	fmt.Println(err)
}
