package damage

import (
	"os"
	"testing"

	"fsward/repair/linux"
	"fsward/repair/sandbox"
)

func TestMain(m *testing.M) {
	switch {
	case linux.Inside():
		linux.Main()
	case sandbox.Inside():
		sandbox.Main()
	default:
		os.Exit(m.Run())
	}
}
