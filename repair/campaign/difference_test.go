package campaign

import (
	"slices"
	"testing"
)

// TestDifferences names what is gone, new and changed, once for each file.
func TestDifferences(t *testing.T) {
	before := map[string]string{"/a b type": "100000", "/a b mode": "100644", "/a b size": "7",
		"/a b content": "12", "/gone type": "40000", "/gone/f type": "100000",
		"/gone/e/f type": "100000", "/gone/e type": "40000", "/same type": "100000"}
	after := map[string]string{"/new/f type": "100000", "/new type": "40000",
		"/a b type": "120000", "/a b mode": "120644", "/a b size": "9",
		"/a b content": "13", "/lost+found/#13 type": "100000", "/same type": "100000"}
	want := []string{"~ /a b: content, mode 100644 → 120644, size 7 → 9", "- /gone",
		"+ /lost+found/#13", "+ /new"}
	if got := differences(before, after); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := differences(before, before); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
