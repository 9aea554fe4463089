package e2fsbuild_test

import (
	"context"
	"fmt"

	"fsward/dev/e2fsbuild"
)

// Builds e2fsck for a debugger. This takes minutes, so that the example is not run.
func Example() {
	ctx := context.Background()
	b, err := e2fsbuild.New(ctx, "build/e2fsprogs", "debug", "CFLAGS=-O0 -g")
	if err == nil {
		err = b.Program(ctx, "build/e2fsck-debug")
	}
	fmt.Println(err)
}
