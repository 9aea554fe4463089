package b3

import (
	"strings"
	"testing"
)

// A file that describes no set is refused, and the error says what is wrong.
func TestDecodeErrors(t *testing.T) {
	const rest = "\nfirst: [foo]\noperations: [{op: creat}]"
	for text, want := range map[string]string{
		"":                      "empty",
		"length: x":             "line 1",
		"length: 1\nlong: 2":    `line 2: there is no key "long"`,
		"length: 0" + rest:      "want 1 to 16",
		"length: 17" + rest:     "want 1 to 16",
		"length: 1\nfirst: [a]": "operations is empty",
		"length: 1\nfirst: [a]\noperations: [{op: jump}]":                 "line 3, column 14: ",
		"length: 1\nfirst: [a]\noperations: [{op: fsync}]":                "expected one of creat, mkdir",
		"length: 1\nfirst: [a]\noperations: [{op: write}]":                "ranges are for",
		"length: 1\nfirst: [a]\noperations: [{op: write, ranges: [all]}]": `no range "all"`,
		"length: 1\nfirst: [a]\noperations: [{op: creat, ranges: [end]}]": "ranges are for",
		"length: 1\nfirst: [a]\noperations: [{op: mkdir}]":                "are left for it",
		"length: 1\nfirst: [a]\noperations: [{op: chattr}]":               "flags are for chattr",
		"length: 1\nfirst: [a]\noperations: [{op: chattr, flags: [x]}]":   "some of SdAcC",
		"length: 1\nfirst: [a]\noperations: [{op: creat, flags: [c]}]":    "flags are for chattr",
		"length: 1\nfirst: [a]\noperations: [{op: snapshot}]":             "are left for it",
		"length: 1\nfirst: [a, a]\noperations: [{op: creat}]":             "there twice",
		"length: 1\nfirst: [a, a/b]\noperations: [{op: creat}]":           `"a" is a file`,
		"length: 1\nfirst: [../a]\noperations: [{op: creat}]":             "want a path",
		"length: 1\nalone: [creat]" + rest[0:]:                            "makes nothing persistent",
		"length: 1\nnot_only: [link]" + rest:                              "no operation \"link\"",
		"length: 1\nnot_only: [creat]" + rest:                             "no workload",
		"length: 1\npersist: all" + rest:                                  "want used or related",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Load("seq-9"); err == nil || !strings.Contains(err.Error(), "seq-3-nested") {
		t.Errorf("an unknown set: %v", err)
	}
}

// Hostile files end with a value or an error, soon.
func FuzzDecode(f *testing.F) {
	for _, name := range Names() {
		text, err := sets.ReadFile("sets/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(text)
		if err != nil {
			return
		}
		for _, rank := range []uint64{0, s.Count() / 2, s.Count() - 1} {
			w, err := s.At(rank)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Rank(w); got != rank || err != nil {
				t.Fatalf("rank %d: %s has rank %d, %v", rank, w, got, err)
			}
		}
	})
}
