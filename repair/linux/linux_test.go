package linux

import (
	"os"
	"testing"

	"fsward/repair/sandbox"
)

func TestMain(m *testing.M) {
	switch {
	case Inside():
		Main()
	case sandbox.Inside():
		sandbox.Main()
	default:
		os.Exit(m.Run())
	}
}
