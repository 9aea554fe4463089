package shape

import (
	"os/exec"
	"regexp"
	"testing"
)

// perl finds the programs in scripts.
var perl = regexp.MustCompile(`(?s)perl -e '([^']*)'`)

// TestShapes checks that names are unique, that sizes grow up to the full one, and that sh and perl
// accept the scripts.
func TestShapes(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range All {
		if seen[s.Name] {
			t.Errorf("two shapes are named %s", s.Name)
		}
		seen[s.Name] = true
		if sizes := s.Sizes(3, true); s.Smallest < 1 || sizes[0] < s.Smallest ||
			sizes[2] > s.Full || sizes[2] < s.Full-64 {
			t.Errorf("%s: full sizes %v, want up to %d from %d", s.Name, sizes, s.Full, s.Smallest)
		}
		for _, script := range []string{s.Prepare, s.Script} {
			if out, err := exec.Command("sh", "-nc", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", s.Name, err, out)
			}
			for _, program := range perl.FindAllStringSubmatch(script, -1) {
				if out, err := exec.Command("perl", "-ce", program[1]).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", s.Name, err, out)
				}
			}
		}
	}
}
