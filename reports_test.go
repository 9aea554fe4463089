package fsward

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxImage bounds a compressed disk of a report, in bytes.
const maxImage = 100_000

// TestReports checks that each folder of docs/results/reports has a text, a script that can be
// executed, and small disks that the text links, or else says in its text that it has none.
func TestReports(t *testing.T) {
	const reports = "docs/results/reports"
	entries, err := os.ReadDir(reports)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 40 {
		t.Fatalf("found %d reports, want at least 40", len(entries))
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		folder := filepath.Join(reports, entry.Name())
		text, err := os.ReadFile(filepath.Join(folder, "report.md"))
		if err != nil {
			t.Error(err)
			continue
		}
		script, err := os.Stat(filepath.Join(folder, "reproduce.sh"))
		if err != nil {
			t.Error(err)
		} else if script.Mode()&0o111 == 0 {
			t.Errorf("%s: reproduce.sh cannot be executed", folder)
		}
		images, err := filepath.Glob(filepath.Join(folder, "*.zst"))
		if err != nil {
			t.Fatal(err)
		}
		if none := strings.Contains(string(text), "**Image**: none."); none != (len(images) == 0) {
			t.Errorf("%s: %d images; report.md says that there are none: %t", folder,
				len(images), none)
		}
		for _, image := range images {
			name := filepath.Base(image)
			if !strings.Contains(string(text), "]("+name+")") {
				t.Errorf("%s: report.md does not link %s", folder, name)
			}
			if info, err := os.Stat(image); err != nil {
				t.Error(err)
			} else if info.Size() > maxImage {
				t.Errorf("%s: %d bytes, want at most %d", image, info.Size(), maxImage)
			}
		}
	}
}
