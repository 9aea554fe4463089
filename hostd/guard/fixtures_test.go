package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fsward/hostd/guardtest"
	"fsward/shareddata"
)

// fixtures are files that several tests read and none changes. Each is made once, in a folder that
// TestMain removes.
var fixtures struct {
	dir   string
	lock  sync.Mutex
	ready map[string]bool
}

// fixture returns the path of a fixture. It calls write to make it if nobody has.
func fixture(t *testing.T, name string, write func(path string)) string {
	t.Helper()
	fixtures.lock.Lock()
	defer fixtures.lock.Unlock()
	path := filepath.Join(fixtures.dir, name)
	if !fixtures.ready[name] {
		write(path)
		fixtures.ready[name] = true
	}
	return path
}

// capturedBase returns the image with which the log of a capture begins, decompressed.
func capturedBase(t *testing.T, log string) string {
	t.Helper()
	packed := shareddata.Path(t, "logs/"+log+".base.img.zst")
	return fixture(t, log, func(path string) {
		guardtest.Run(t, "zstd", "-qdfo", path, "--sparse", packed)
	})
}

// capturedLog returns the log of a capture.
func capturedLog(t *testing.T, log string) string {
	t.Helper()
	return shareddata.Path(t, "logs/"+log+".log.zst")
}

// tree returns a folder with many files, from which images are made.
func tree(t *testing.T, dirs, files int) string {
	t.Helper()
	return fixture(t, fmt.Sprintf("tree-%d-%d", dirs, files), func(path string) {
		for d := range dirs {
			dir := fmt.Sprintf("%s/dir%d", path, d)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for i := range files {
				if err := os.WriteFile(fmt.Sprintf("%s/a-file-%d", dir, i), make([]byte, i%3*3000+1),
					0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
