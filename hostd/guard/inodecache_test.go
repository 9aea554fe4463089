package guard_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// TestInodeCache breaks a rule that no present kernel breaks, with an image of one that did.
func TestInodeCache(t *testing.T) {
	dir := t.TempDir()
	dump, image := filepath.Join(dir, "dump"), filepath.Join(dir, "image")
	shared := shareddata.Path(t, "btrfs", "images",
		"fsck-tests__064-deprecated-inode-cache__4k_nodesize.img.xz")
	guardtest.Run(t, "cp", shared, dump+".xz")
	guardtest.Run(t, "xz", "-d", dump+".xz")
	guardtest.Run(t, "btrfs-image", "-r", dump, image)
	ev, err := offline.Check(context.Background(), []string{image}, detect.Auto, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if names := guard.RuleNames(ev.Violations); ev.Outcome != change.Violated ||
		!slices.Equal(names, []string{"btrfs/66"}) {
		t.Errorf("violated %v, want btrfs/66 alone", names)
	}
}
