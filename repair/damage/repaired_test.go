package damage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChanges lists what differs, cut at words, and at the end of the shorter image.
func TestChanges(t *testing.T) {
	old := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	now := []byte{0, 9, 2, 9, 9, 9, 9, 9, 8}
	got, err := Changes(disk(old), disk(now))
	if err != nil || len(got) != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, want := range []Change{{1, []byte{1}, []byte{9}}, {3, []byte{3}, []byte{9}},
		{4, []byte{4, 5, 6, 7}, []byte{9, 9, 9, 9}}} {
		if c := got[i]; c.Off != want.Off || string(c.Old) != string(want.Old) ||
			string(c.New) != string(want.New) {
			t.Errorf("change %d is %v, want %v", i, c, want)
		}
	}
}

// suiteOf returns a suite of empty files.
func suiteOf(t *testing.T, names ...string) *Suite {
	t.Helper()
	dir := t.TempDir()
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSuite(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRepaired damages the bytes that repairs change: among the first values is the one that the
// repair writes, and a byte gets all values. Bytes of other images have other groups.
func TestRepaired(t *testing.T) {
	s := suiteOf(t, "a.img", "b.img")
	m, err := NewRepaired(s, []Repaired{{"a.img", []Change{{8, []byte{5}, []byte{77}}}},
		{"b.img", []Change{{1, []byte{1, 2}, []byte{3, 4}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if fields, groups := m.Fields(); fields != 2 || groups != 2 {
		t.Errorf("%d fields in %d groups", fields, groups)
	}
	values := map[byte]bool{}
	for n := range m.Count() {
		d, err := m.At(n)
		if errors.Is(err, ErrNone) || err == nil && d.Group != "suite.a.img" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Patches) != 1 || d.Patches[0].Off != 8 || !strings.HasSuffix(d.Image, "/a.img") {
			t.Fatalf("%+v", d)
		}
		value := d.Patches[0].Data[0]
		if value == 77 && n >= m.First() && !values[77] {
			t.Error("the byte that the repair writes is not among the first values")
		}
		values[value] = true
	}
	if len(values) != 255 || values[5] {
		t.Errorf("%d values; want all but the old one", len(values))
	}
	for _, wrong := range [][]Repaired{nil, {{"a.img", []Change{{8, []byte{5}, nil}}}}} {
		if _, err := NewRepaired(s, wrong); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

// TestManyRepaired takes some fields of each image first, and not all of an image with many.
func TestManyRepaired(t *testing.T) {
	many := Repaired{Suite: "a.img"}
	for i := range uint64(1000) {
		many.Changes = append(many.Changes, Change{4 * i, []byte{0}, []byte{1}})
	}
	one := Repaired{"b.img", []Change{{0, []byte{0}, []byte{1}}}}
	m, err := NewRepaired(suiteOf(t, "a.img", "b.img"), []Repaired{many, one})
	if err != nil {
		t.Fatal(err)
	}
	if fields, _ := m.Fields(); fields != maxRepaired+1 {
		t.Errorf("%d fields", fields)
	}
	if d, err := m.At(inARow); err != nil || d.Group != "suite.b.img" {
		t.Errorf("damage %d is %+v, %v", inARow, d, err)
	}
}
