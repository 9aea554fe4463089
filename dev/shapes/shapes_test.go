package main

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
	for _, s := range shapes {
		if seen[s.name] {
			t.Errorf("two shapes are named %s", s.name)
		}
		seen[s.name] = true
		if sizes := s.sizes(3, true); s.smallest < 1 || sizes[0] < s.smallest ||
			sizes[2] > s.full || sizes[2] < s.full-64 {
			t.Errorf("%s: full sizes %v, want up to %d from %d", s.name, sizes, s.full, s.smallest)
		}
		for _, script := range []string{s.prepare, s.script} {
			if out, err := exec.Command("sh", "-nc", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", s.name, err, out)
			}
			for _, program := range perl.FindAllStringSubmatch(script, -1) {
				if out, err := exec.Command("perl", "-ce", program[1]).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s", s.name, err, out)
				}
			}
		}
	}
}
