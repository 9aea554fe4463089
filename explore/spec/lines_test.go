package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinesOfThePaper: a component and a stack have no more lines, without comments and blank ones,
// than those of EXPLODE (its table 3) have for a system of the same kind.
func TestLinesOfThePaper(t *testing.T) {
	const versions = 30 + 124 // EXPENSIV, its longest of version control
	paper := map[string]int{
		"../component/fs/nfs": 34, "../component/fs/raid": 144, "../component/fs/raid-lost-disk": 144,
		"../component/fs/dm-raid": 144, "stacks/raid": 137, "stacks/raid-errors": 137,
		"stacks/raid-resync": 137, "stacks/raid-return": 137, "stacks/cvs": 27 + 68,
		"stacks/rcs": versions, "stacks/git": versions, "stacks/git-merge": versions,
		"stacks/mercurial": versions, "stacks/fossil": versions, "stacks/brz": versions,
		"stacks/subversion":  versions,
		"stacks/berkeley-db": 82 + 202, "stacks/vm": 54, "stacks/vm-linux": 54, "stacks/qemu-disk": 54,
	}
	files, err := filepath.Glob("../component/fs/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d components: %v", len(files), err)
	}
	for _, file := range files { // ten file systems of the paper have 744 lines
		if name := strings.TrimSuffix(file, ".yaml"); paper[name] == 0 {
			paper[name] = 74
		}
	}
	count := regexp.MustCompile(`(?m)^\s*[^\s#].*$`)
	for name, most := range paper {
		text, err := os.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(count.FindAll(text, -1)); n > most || n < 5 {
			t.Errorf("%s has %d lines, want at most the paper's %d", name, n, most)
		}
	}
}
