package model_test

import "testing"

// TestSymmetry: operations on files that are alike have equal keys, and others do not.
func TestSymmetry(t *testing.T) {
	for _, c := range []struct {
		state, first, second string
		alike                bool
	}{
		{"creat /a; creat /b; sync", "unlink /a", "unlink /b", true},
		{"creat /a; creat /b; sync", "rename /a /b", "rename /b /a", true},
		{"creat /a; creat /b; sync", "unlink /a", "chmod /b 0700", false},
		{"creat /a; creat /b; sync; write /a 1", "unlink /a", "unlink /b", false},
		{"creat /a; sync; creat /b", "unlink /a", "unlink /b", false}, // a crash may lose /b alone
		{"creat /a; link /a /b; sync", "unlink /a", "unlink /b", true},
		{"mkdir /d; mkdir /e; creat /d/f; sync", "rename /d/f /e/g", "rename /d/f /d/g", false},
		{"mkdir /d; mkdir /e; creat /f; sync", "rename /f /d/g", "rename /f /e/h", true},
		{"mkdir /d; mkdir /e; creat /f; sync", "rename /f /d/g", "rename /f /g", false},
		{"mkdir /d; mkdir /e; creat /d/f; creat /e/g; sync", "unlink /d/f; fsync /d",
			"unlink /e/g; fsync /e", true},
		{"mkdir /d; mkdir /e; creat /d/f; creat /e/g; sync", "unlink /d/f; fsync /d",
			"unlink /d/f; fsync /e", false},
	} {
		s := after(t, posix, c.state).Symmetry()
		if is := s.Key(script(t, c.first)) == s.Key(script(t, c.second)); is != c.alike {
			t.Errorf("%s: %s and %s are alike: %t", c.state, c.first, c.second, is)
		}
	}
}

// BenchmarkSignature measures the signature of a state with many names that are alike.
func BenchmarkSignature(b *testing.B) {
	text := "creat /a; "
	for i := range 24 {
		text += "link /a /n" + string(rune('a'+i)) + "; "
	}
	f := after(b, posix, text)
	for b.Loop() {
		f.StableSignature()
	}
}
