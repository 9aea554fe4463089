package demo_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"go.uber.org/zap"

	"fsward/hostd/demo"
)

// Run leaves the disks in Dir, which it makes first.
func ExampleRun() {
	err := demo.Run(context.Background(), demo.Config{Dir: "/dev/null/demo"}, zap.NewNop())
	fmt.Println(errors.Is(err, syscall.ENOTDIR))
	// Output: true
}
