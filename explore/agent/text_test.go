package agent

import (
	"strings"
	"testing"
)

// TestOpText checks that each operation has a text, and the texts of some operations.
func TestOpText(t *testing.T) {
	for c := opInvalid + 1; c < opEnd; c++ {
		if s := (Op{Code: c}).String(); strings.HasPrefix(s, "operation ") || strings.Contains(s, "%") {
			t.Errorf("the text of operation %d is %q", c, s)
		}
	}
	for want, op := range map[string]Op{
		"mkdir /a 0755":                      Mkdir("/a", 0o755),
		"rename /a /b 1":                     Rename("/a", "/b", 1),
		"open 3: /a flags 0102":              Open(3, "/a", 0o102, 0o644),
		"write 3: at 4096, 2 bytes":          Write(3, 4096, []byte("%s")),
		"fill 0: at 1, 2 bytes, seed 3":      Fill(0, 1, 2, 3),
		"fallocate 1: mode 2, at 3, 4 bytes": Fallocate(1, 2, 3, 4),
	} {
		if got := op.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (Op{Code: opEnd}).String(); got == "" {
		t.Error("an unknown operation has no text")
	}
}
