package btrfs

import (
	"strings"
	"testing"
)

// TestStructureRules checks that every structure rule has a unique name and a sentence.
func TestStructureRules(t *testing.T) {
	rules := map[string]bool{}
	for _, r := range structureRules {
		if rules[r.name] || !strings.HasPrefix(r.name, "btrfs/") || !strings.HasSuffix(r.doc, ".") {
			t.Errorf("rule %q: %q", r.name, r.doc)
		}
		rules[r.name] = true
	}
}
