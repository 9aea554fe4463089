package guard_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets more garbage pile up than Go does by default: most tests make much beside little
// that stays. peak does not.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	dir, err := os.MkdirTemp("", "guard-test-")
	if err != nil {
		panic(err)
	}
	fixtures.dir, fixtures.ready = dir, map[string]bool{}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}
