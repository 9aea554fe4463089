package ext3

import (
	"os/exec"
	"slices"
	"testing"
)

// TestTimeOfDeletion checks images with an inode that was deleted 100 seconds after 1970. On a
// system whose clock starts there the time is right, and e2fsck finds nothing wrong. Such a system
// was mounted, or made, before its clock was set.
func TestTimeOfDeletion(t *testing.T) {
	const deleted = "set_inode_field <20> dtime @100\n"
	for _, tc := range []struct {
		name, debugfs string
		found         []string
	}{
		{"a clock", deleted, []string{checkDeleted.name}},
		{"a clock that was set after the mount", deleted + "set_super_value mtime @60\n", nil},
		{"a clock that was set after mkfs", deleted + "set_super_value mkfs_time @60\n", nil},
	} {
		image := altered(t, imageFault{mkfs: smallInodes, debugfs: tc.debugfs})
		if found := judgedImage(t, image); !slices.Equal(found, tc.found) {
			t.Errorf("%s: %v, want %v", tc.name, found, tc.found)
		}
		out, err := exec.CommandContext(t.Context(), "e2fsck", "-fn", image).CombinedOutput()
		if (err == nil) != (tc.found == nil) {
			t.Errorf("%s: e2fsck: %v\n%s", tc.name, err, out)
		}
	}
}
