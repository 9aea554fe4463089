package mix

import (
	"os"
	"testing"
)

// TestWithHash checks that names get the hash that they are made for, and that the hash is that of
// Btrfs.
func TestWithHash(t *testing.T) {
	if got := nameHash([]byte("a")); got != 3427024844 {
		t.Errorf("the hash of a is %d, want the one in rule017_holds.pl of the test cases", got)
	}
	for _, hash := range []uint32{0, 1, 0xdeadbeef, 0xffffffff} {
		name := withHash("0123abcd", hash)
		if len(name) != 12 || string(name[:8]) != "0123abcd" || nameHash(name) != hash {
			t.Errorf("%q has the hash %#x, want %#x", name, nameHash(name), hash)
		}
	}
}

// TestMakeColliding checks the number of names, and that 32 of them have one hash.
func TestMakeColliding(t *testing.T) {
	dir := t.TempDir()
	if err := MakeColliding(dir, 100, 32); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint32]int{}
	for _, e := range entries {
		names[nameHash([]byte(e.Name()))]++
	}
	if len(entries) != 100 || len(names) != 4 {
		t.Errorf("%d names with %d hashes, want 100 and 4: %v", len(entries), len(names), names)
	}
}
