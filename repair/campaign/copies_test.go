package campaign

import (
	"path/filepath"
	"strings"
	"testing"
)

// trusting damages the number of blocks in the first superblock of XFS.
const trusting = `^superblock\.dblocks$`

// TestPlantedTrust finds a checker that gives the value of the first superblock to the others. It
// finds no such thing in xfs_repair.
func TestPlantedTrust(t *testing.T) {
	need(t, "mkfs.xfs")
	cfg := plantedConfig(t, "trusts", "xfs")
	cfg.Checks, cfg.Fields = []string{Copy}, trusting
	found := test(t, cfg, 12)
	if len(found) != 1 || len(found[Trust]) != 1 {
		t.Fatalf("found %v", found)
	}
	f := found[Trust][0]
	checkFinding(t, f)
	if !strings.Contains(f.Detail, "the number of blocks was 8192 by 3 of 4 records") {
		t.Errorf("the finding says %q", f.Detail)
	}
	sound := Config{FS: "xfs", Checks: []string{Copy}, Fields: trusting}
	if found := test(t, sound, 12); len(found[Trust]) > 0 {
		t.Errorf("xfs_repair: found %v", found[Trust][0].Detail)
	}
}

// TestFewCopies checks that a file system without three copies of a field cannot be asked about
// them.
func TestFewCopies(t *testing.T) {
	need(t, "mkfs.minix")
	_, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"),
		Config{FS: "minix1", Checks: []string{Copy}})
	if err == nil || !strings.Contains(err.Error(), "no number of minix1 with more than 2 copies") {
		t.Errorf("got %v", err)
	}
}
