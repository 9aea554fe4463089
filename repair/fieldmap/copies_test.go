package fieldmap

import (
	"strings"
	"testing"
)

const copied = `file_system: toy
structures:
  head:
    fields: [[size, 0, 2], [count, 2, 1], [uses, 3, 1]]
places:
  - {structure: head, at: 0}
copies:
  - name: size
    records:
      - {structure: head, field: size, at: 0, count: head.count, stride: 8}
      - {structure: head, field: count, at: 8, add: head.size - 3}
  - name: uses
    records: [{structure: head, field: uses, at: 0, count: head.count, stride: 8}]
`

// TestFindCopies finds the copies of a number, also one that is the sum of another field and a
// number, and leaves out a number whose copies differ.
func TestFindCopies(t *testing.T) {
	m, err := Parse([]byte(copied))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 20)
	for i := range 3 {
		copy(b[8*i:], []byte{1, 2, 3, byte(i)})
	}
	list, err := m.FindCopies(disk(b))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	c := list[0]
	if c.Name != "size" || c.Value != 0x201 || len(c.Each) != 4 || c.Each[2].At != 16 {
		t.Errorf("found %+v", c)
	}
	b[8], b[10] = 7, 2
	for i, want := range []uint64{0x201, 0x207, 0x201, 0x200} {
		if v, err := c.Each[i].ReadFrom(disk(b)); v != want || err != nil {
			t.Errorf("copy %d is %#x, %v", i, v, err)
		}
	}
	if _, err := m.FindCopies(disk(b[:16])); err == nil {
		t.Error("a copy beyond the end gives no error")
	}
}

// TestWrongCopies checks that a map cannot name copies of what it does not have.
func TestWrongCopies(t *testing.T) {
	for old, wrong := range map[string]string{
		"{structure: head, field: size, at: 0,": "{structure: tail, field: size, at: 0,",
		"field: uses,":                          "field: length,",
		"  - name: uses\n":                      "  - name: \"\"\n",
	} {
		_, err := Parse([]byte(strings.Replace(copied, old, wrong, 1)))
		if err == nil || !strings.Contains(err.Error(), "copies") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
}
