package reference

import "testing"

// TestNameHash compares hashes with known ones. The hash of "default" comes from a real Btrfs
// directory: its entry in the root tree has the key k(6, dir_item, 2378154706). The others come
// from the thesis's figure 4.3 and the kernel's test of crc32c.
func TestNameHash(t *testing.T) {
	for name, want := range map[string]uint32{"default": 2378154706, "brunch": 1732636812} {
		if got := NameHash([]byte(name)); got != want {
			t.Errorf("NameHash(%q) = %d, want %d", name, got, want)
		}
	}
}
