package fieldmap

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// memory is an image in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

func disk(b []byte) memory { return memory{bytes.NewReader(b)} }

const small = `file_system: toy
structures:
  head:
    fields: [[magic, 0, 4], [count, 4, 2], [sum, 6, 4]]
    checksums: [{kind: crc32c, field: sum, from: 0, size: 10}]
  item:
    fields: [[kind, 0, 1], [value, 1, 2]]
  tail:
    fields: [[word, 0, 2]]
places:
  - {structure: head, at: 16}
  - structure: item
    at: 16 + 10
    count: head.count
    stride: 3
    kinds: [{name: odd, when: kind % 2 == 1}, {name: even, when: kind > 0}]
    inside: [{structure: tail, if: kind == 2, at: value}]
  - {name: bitmap, bits: true, at: 60, count: 8}
`

// TestFind finds the fields of a small image: one of each kind, places that are computed, and the
// used bits and one unused bit of a bitmap.
func TestFind(t *testing.T) {
	m, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	b[20] = 4                                                 // items
	copy(b[26:], []byte{0, 9, 9, 3, 1, 2, 2, 50, 0, 5, 6, 7}) // kinds 0, 3, 2, 5
	b[60] = 0b101
	found, seals, err := m.Find(disk(b))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s %s at %d, %d bytes: %d", f.Group, f.Place, f.Off,
			f.Width, f.Old))
	}
	want := []string{
		"head.magic  at 16, 4 bytes: 0", "head.count  at 20, 2 bytes: 4", "head.sum  at 22, 4 bytes: 0",
		"item.kind odd at 29, 1 bytes: 3", "item.value odd at 30, 2 bytes: 513",
		"item.kind even at 32, 1 bytes: 2", "item.value even at 33, 2 bytes: 50",
		"tail.word even at 50, 2 bytes: 0",
		"bitmap!flip bit=0 at 60, 0 bytes: 5", "bitmap!flip bit=1 at 60, 0 bytes: 5",
		"bitmap!flip bit=2 at 60, 0 bytes: 5",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	change := Change{found[0].Off, found[0].Bytes(0x01020304)}
	sums, err := seals.Mend(disk(b), []Change{change})
	if err != nil || len(sums) != 1 {
		t.Fatal(sums, err)
	}
	sealed := append([]byte{4, 3, 2, 1}, b[20:26]...)
	sum := crc32.Checksum(sealed, crc32.MakeTable(crc32.Castagnoli))
	if sums[0].Off != 22 || !bytes.Equal(sums[0].Data, []byte{byte(sum), byte(sum >> 8),
		byte(sum >> 16), byte(sum >> 24)}) {
		t.Errorf("the checksum is %v, want %#x", sums[0], sum)
	}
	change = Change{found[2].Off, found[2].Bytes(1)}
	if sums, err := seals.Mend(disk(b), []Change{change}); err != nil || len(sums) != 0 {
		t.Errorf("a damaged checksum is made right: %v, %v", sums, err)
	}
}

// TestKnown parses the maps of all file systems. Their fields must not overlap.
func TestKnown(t *testing.T) {
	if len(Names()) < 9 {
		t.Errorf("maps of %v", Names())
	}
	for _, name := range Names() {
		m, err := Known(name)
		if err != nil || m.FileSystem != name {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for structure, s := range m.Structures {
			owner := map[uint64]string{}
			for _, f := range s.Fields {
				for at := f.At; at < f.At+uint64(f.Width); at++ {
					if owner[at] != "" {
						t.Errorf("%s: %s.%s overlaps %s", name, structure, f.Name, owner[at])
					}
					owner[at] = f.Name
				}
			}
		}
	}
}

func TestExpressions(t *testing.T) {
	look := (&scope{values: map[string]uint64{"a": 6, "b.c": 2}}).look
	for text, want := range map[string]string{
		"a*b.c + 1":       "13",
		"(a - 7) >> 60":   "15",
		"a % 4 == b.c":    "1",
		"a < 6 || a >= 6": "1",
		"1 << 64":         "0",
		"a / 0":           "division",
		"nothing":         "not the name",
		"a + ":            "expected",
		"len(a)":          "only",
		"1.5":             "whole",
		"a &^ 1":          "operator",
	} {
		v, err := eval(text, look)
		got := fmt.Sprint(v)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
}

// FuzzFind reads any map and any image: an error or fields that lie inside, and no panic.
func FuzzFind(f *testing.F) {
	f.Add([]byte(small), make([]byte, 64))
	for _, name := range []string{"minix2", "xfs", "exfat", "ext4"} {
		if text, err := maps.ReadFile("maps/" + name + ".yaml"); err == nil {
			f.Add(text, make([]byte, 4096))
		}
	}
	f.Fuzz(func(t *testing.T, text, image []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		found, seals, err := m.Find(disk(image))
		if err != nil {
			return
		}
		for _, f := range found {
			if f.Off >= uint64(len(image)) || uint64(f.Width) > uint64(len(image))-f.Off {
				t.Fatalf("%s at %d of %d bytes", f.Group, f.Off, len(image))
			}
			if _, err := seals.Mend(disk(image), []Change{{f.Off, f.Bytes(1)}}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
