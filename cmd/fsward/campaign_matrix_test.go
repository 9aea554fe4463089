package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/explore/campaign"
)

// TestCorruptions checks how a campaign of the corruption matrix is divided, with a program that
// says how many corruptions there are.
func TestCorruptions(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k, err := campaign.KindOf("matrix")
	if err != nil {
		t.Fatal(err)
	}
	path := k.Path(self)
	if filepath.Dir(path) != filepath.Dir(self) {
		t.Fatalf("%s is not in the folder of %s", path, self)
	}
	define := func(args ...string) (campaign.Definition, error) {
		s := campaignStart{unit: 100}
		return s.definition(t.Context(), "matrix", args)
	}
	if _, err := define("--fs=ext3"); err == nil || !strings.Contains(err.Error(),
		"make fsward-matrix") {
		t.Errorf("without the program: %v", err)
	}
	script := "#!/bin/sh\n" + `[ "$*" = "--count --fs=ext3" ] && echo 6803`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	for _, row := range []struct {
		args, wrong string
		first, last uint64
	}{
		{"--fs=ext3", "", 0, 6802},
		{"--fs=ext3 --range=5-9", "", 5, 9},
		{"--fs=ext3 --range=9-5", "want FIRST-LAST", 0, 0},
		{"--fs=ext3 --range=9", "want FIRST-LAST", 0, 0},
		{"--fs=btrfs", "make fsward-matrix", 0, 0}, // the program fails
		{"--range=0-1", "--fs is missing", 0, 0},
		{"--fs=ext3 --only=/etc/passwd", "stays on its machine", 0, 0},
	} {
		d, err := define(strings.Fields(row.args)...)
		if row.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), row.wrong) {
				t.Errorf("%s: %v", row.args, err)
			}
			continue
		}
		if err != nil || d.First != row.first || d.Last != row.last || d.Unit != 100 {
			t.Errorf("%s: %d to %d in units of %d, %v", row.args, d.First, d.Last, d.Unit, err)
		}
	}
}
