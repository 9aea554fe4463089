package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"fsward/explore/host"
	"fsward/explore/machine"
)

// WithMachine needs the files that make guest makes.
func ExampleWithMachine() {
	cfg := host.GuestConfig{Dir: "missing"}
	err := host.WithMachine(context.Background(), cfg, zap.NewNop(), func(m *machine.Machine) error {
		fmt.Println(m.Hello().Release)
		return nil
	})
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output: true
}
