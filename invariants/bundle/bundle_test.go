package bundle

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fsward/invariants/syntax"
)

// TestTableOfFacts checks that a row of a table becomes a fact on its line; a column that is not a
// number is a name, byte by byte.
func TestTableOfFacts(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"12,secret\n", "t(12,'secret').\n"},
		{"# a comment\n\n12, it's\n0x1F,'12'\n", "\n\nt(12,'it\\'s').\nt(0x1F,'12').\n"},
		{"\"a,b\",-6\n", "t('a,b',-6).\n"},
		{"caf\xc3\xa9,\"x\ny\"\nz,1\n", "t('caf\\xc3\\\\xa9\\','x\\x0a\\y').\n\nt('z',1).\n"},
		{"", "t(_) :- fail.\n"},
	} {
		got, err := factsOf("t", []byte(test.text))
		if err != nil || string(got) != test.want {
			t.Errorf("%q: %q, %v; want %q", test.text, got, err, test.want)
		}
	}
	for _, bad := range []string{"a,b\nc\n", "\"a\n", "1,2,3,4,5,6,7,8,9\n",
		strings.Repeat("x\n", maxRows+1)} {
		if got, err := factsOf("t", []byte(bad)); err == nil {
			t.Errorf("%.20q: %.40q", bad, got)
		}
	}
}

// FuzzTable checks that whatever bytes a table has, it is refused, or is facts and nothing else.
func FuzzTable(f *testing.F) {
	for _, seed := range []string{"12,secret\n", "# c\n'x\n\n\"a\nb\",0x1f", "a').b(", "\\,\\x41\\\n",
		"'"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		facts, err := factsOf("t", text)
		if err != nil {
			return
		}
		clauses, err := syntax.Split(syntax.File{Name: "t.csv", Text: facts})
		if err != nil {
			t.Fatalf("%q becomes %q: %v", text, facts, err)
		}
		for _, c := range clauses {
			if s := c.Errorf("").Error(); !strings.Contains(s, "in t(") {
				t.Fatalf("%q becomes %q, with the clause %s", text, facts, s)
			}
		}
	})
}

// FuzzManifest checks that no manifest is a panic, and that a setting has a reason.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format": 1, "rules": {"ext3/1": {"enabled": false, "reason": "x"}}}`))
	f.Add([]byte(`{"format": 1, "rules": {"a": {"exempt": [{"tree": 5, "id": "k(1,x,2)"}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := &Bundle{}
		if b.read(text) != nil {
			return
		}
		for _, s := range b.Settings {
			if s.Reason == "" {
				t.Fatalf("%q: %+v", text, s)
			}
		}
	})
}

// TestZipFiles checks that a zip file needs a manifest, and no file in it is read beyond the limit
// of a file of rules.
func TestZipFiles(t *testing.T) {
	write := func(files map[string][]byte) string {
		t.Helper()
		var content bytes.Buffer
		z := zip.NewWriter(&content)
		for name, text := range files {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "b.zip")
		if err := os.WriteFile(path, content.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	manifest := []byte(`{"format": 1, "name": "a", "version": "1"}`)
	if _, err := Open(write(map[string][]byte{"ext3/a.pl": nil})); err == nil {
		t.Error("a zip file without a manifest was read")
	}
	b, err := Open(write(map[string][]byte{Manifest: manifest,
		"ext3/a.pl": bytes.Repeat([]byte("% x\n"), 2<<20)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rules("ext3"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file of 8 MiB in a zip file: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(plain, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(plain); err == nil ||
		!strings.Contains(err.Error(), "neither a folder nor a zip") {
		t.Errorf("a text file: %v", err)
	}
}
