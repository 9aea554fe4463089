package testimage

import (
	"os"
	"slices"
	"testing"

	"fsward/repair/adapter"
)

// TestBuild makes an image of each file system twice, and leaves nothing else behind. There is a
// program that repairs each.
func TestBuild(t *testing.T) {
	programs, err := adapter.Known()
	if err != nil {
		t.Fatal(err)
	}
	for _, fs := range FileSystems() {
		t.Run(fs, func(t *testing.T) {
			tmp := t.TempDir()
			m, err := Build(t.Context(), fs, tmp)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			if len(m.extents) == 0 {
				t.Error("the image is empty")
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v is left, %v", left, err)
			}
			if !slices.ContainsFunc(programs, func(p *adapter.Program) bool {
				return slices.Contains(p.FileSystems, fs)
			}) {
				t.Error("no program repairs it")
			}
		})
	}
}
