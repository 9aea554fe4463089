package offline_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fsward/hostd/guardtest"
	"fsward/shareddata"
)

// captured has the unpacked bases of the captured logs. Unpacking one takes longer than many
// replays.
var captured struct {
	mu  sync.Mutex
	dir string // removed after the tests; "": nothing was unpacked
}

func TestMain(m *testing.M) {
	status := m.Run()
	if captured.dir != "" {
		_ = os.RemoveAll(captured.dir)
	}
	os.Exit(status)
}

// capturedBase returns the path of the unpacked base of a captured log. Tests must not change it.
func capturedBase(t *testing.T, name string) string {
	t.Helper()
	packed := shareddata.Path(t, "logs/"+name+".base.img.zst")
	captured.mu.Lock()
	defer captured.mu.Unlock()
	if captured.dir == "" {
		dir, err := os.MkdirTemp("", "fsward-captured-")
		if err != nil {
			t.Fatal(err)
		}
		captured.dir = dir
	}
	path := filepath.Join(captured.dir, name+".base.img")
	if _, err := os.Stat(path); err != nil {
		guardtest.Run(t, "zstd", "-qdfo", path, "--sparse", packed)
	}
	return path
}
