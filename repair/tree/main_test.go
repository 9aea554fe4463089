package tree

import (
	"os"
	"testing"

	"fsward/repair/linux"
)

func TestMain(m *testing.M) {
	linux.ServeIfInside()
	os.Exit(m.Run())
}
