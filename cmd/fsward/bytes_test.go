package main

import "testing"

// A number of bytes is read as people write it.
func TestParseBytes(t *testing.T) {
	for s, want := range map[string]uint64{"0": 0, "512": 512, "256M": 256 << 20, "256MiB": 256 << 20,
		"1g": 1 << 30, "4K": 4096} {
		if got, err := parseBytes(s); err != nil || got != want {
			t.Errorf("%q: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "M", "-1", "1.5G", "99999999999T", "12X"} {
		if got, err := parseBytes(s); err == nil {
			t.Errorf("%q: %d and no error", s, got)
		}
	}
}
