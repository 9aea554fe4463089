package damage

import (
	"errors"
	"testing"
)

// TestInputs reads inputs: rows of fields, by number and beyond the last from the first again, cut
// off at the end, and cut at their bound. A later value counts.
func TestInputs(t *testing.T) {
	base := disk(make([]byte, 8))
	places := []Place{{"a.x@1", 1, 2}, {"b.y", 6, 1}, {"a.z", 4, 1}}
	for in, want := range map[string]string{
		"\x00\x00\x07":                   "a.x@1: 0x0 → 0x7",
		"\x03\x00\x07\x08\x01\x00":       "a.x@1: 0x0 → 0x807",
		"\x01\x00\x09\x02\x00\x03":       "b.y: 0x0 → 0x9, a.z: 0x0 → 0x3",
		"\x01\x00\x09\x01\x00\x08":       "b.y: 0x0 → 0x8",
		"\x01\x00\x00":                   "",
		"\x01":                           "",
		"":                               "",
		string(make([]byte, 2*64)) + "a": "",
	} {
		list, err := NewInputs(base, places, nil, [][]byte{[]byte(in)})
		if err != nil {
			t.Fatal(err)
		}
		d, err := list.At(0)
		if want == "" && errors.Is(err, ErrNone) {
			continue
		}
		if err != nil || d.What != want {
			t.Errorf("%q: %+v, %v; want %q", in, d, err, want)
		}
	}
	list, err := NewInputs(base, places, nil, [][]byte{[]byte("\x01\x00\x09\x02\x00\x03\x00\x00\x01")})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := list.At(0); err != nil || d.Group != "a.x+a.z+b.y" {
		t.Errorf("%+v, %v", d, err)
	}
	if fields, groups := list.Fields(); fields != 3 || groups != 3 || list.Count() != list.First() {
		t.Errorf("%d fields in %d groups", fields, groups)
	}
	if _, err := NewInputs(base, nil, nil, nil); err == nil {
		t.Error("no inputs are accepted")
	}
}
