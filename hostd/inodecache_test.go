package hostd

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// TestInodeCache breaks the rule that no kernel of today breaks, by an image of one that did.
func TestInodeCache(t *testing.T) {
	dir := t.TempDir()
	dump, image := filepath.Join(dir, "dump"), filepath.Join(dir, "image")
	run(t, "cp", shareddata.Path(t, "btrfs/images/fsck-tests__064-deprecated-inode-cache__4k_nodesize.img.xz"), dump+".xz")
	run(t, "xz", "-d", dump+".xz")
	run(t, "btrfs-image", "-r", dump, image)
	ev, err := Check(context.Background(), []string{image}, detect.Auto, RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if names := ruleNames(ev.Violations); ev.Outcome != change.Violated || !slices.Equal(names, []string{"btrfs/66"}) {
		t.Errorf("violated %v, want btrfs/66 alone", names)
	}
}
