package ondisk

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestDirHash checks that the hashes equal those of debugfs, in all versions, for names of every
// length and with bytes beyond 127.
func TestDirHash(t *testing.T) {
	names := []string{"a", "lost+found", "\xe9t\xe9", "\xff\xfe\x80", strings.Repeat("long-name-", 25)}
	for n := range 40 {
		names = append(names, strings.Repeat("x\xc3\xa4y", 14)[:n+1])
	}
	seed := "f3a1c2d4-0102-8384-a5b6-c7d8e9f00112"
	sb := make([]byte, SuperLen)
	for i, c := range []byte{0xf3, 0xa1, 0xc2, 0xd4, 0x01, 0x02, 0x83, 0x84, 0xa5, 0xb6, 0xc7, 0xd8,
		0xe9, 0xf0, 0x01, 0x12} {
		sb[SuperHashSeedAt+i] = c
	}
	for version, name := range []string{"legacy", "half_md4", "tea", "3", "4", "5"} {
		sb[SuperFlagsAt] = byte(version/HashVersions) * flagUnsignedHash
		h := NewDirHash(sb, uint8(version%HashVersions))
		for _, n := range names {
			out, err := exec.Command("debugfs", "-R", fmt.Sprintf("dx_hash -h %s -s %s \"%s\"", name, seed,
				n)).CombinedOutput()
			if err != nil {
				t.Fatalf("debugfs: %v\n%s", err, out)
			}
			if want := fmt.Sprintf("is %#x ", h.Of([]byte(n))); !strings.Contains(string(out), want) {
				t.Errorf("%s of %q: %#x, debugfs says %s", name, n, h.Of([]byte(n)), out)
			}
		}
	}
}
