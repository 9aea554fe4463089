package damage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"regexp"
	"slices"
	"testing"

	"fsward/interp"
	"fsward/repair/fieldmap"
	"fsward/repair/testimage"
)

// memory is an image in memory.
type memory struct{ *bytes.Reader }

func (m memory) Size() uint64 { return uint64(m.Reader.Size()) }

func disk(b []byte) memory { return memory{bytes.NewReader(b)} }

// TestDifferences reduces patches to what differs.
func TestDifferences(t *testing.T) {
	base := disk([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	got, err := Differences(base, []interp.Patch{{Off: 1, Data: []byte{9, 2, 9, 9}},
		{Off: 6, Data: []byte{6, 7}}})
	want := []interp.Patch{{Off: 1, Data: []byte{9}}, {Off: 3, Data: []byte{9, 9}}}
	if err != nil || !slices.EqualFunc(got, want, func(a, b interp.Patch) bool {
		return a.Off == b.Off && bytes.Equal(a.Data, b.Data)
	}) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if _, err := Differences(base, []interp.Patch{{Off: 7, Data: []byte{1, 2}}}); err == nil {
		t.Error("a patch beyond the end is accepted")
	}
}

const toy = `file_system: toy
structures:
  head:
    fields: [[one, 0, 1], [two, 1, 2], [four, 3, 4], [sum, 8, 4]]
    checksums: [{kind: crc32c, field: sum, from: 0, size: 12}]
places:
  - {structure: head, at: 16}
  - {name: map, bits: true, at: 40, count: 4}
`

func toyModel(t *testing.T) (*Model, []byte) {
	t.Helper()
	m, err := fieldmap.Parse([]byte(toy))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	copy(b[16:], []byte{5, 1, 2, 3, 4, 5, 6})
	b[40] = 3
	model, err := Mapped(disk(b), m)
	if err != nil {
		t.Fatal(err)
	}
	return model, b
}

// TestNumbers counts damages: first each field once, and at the end every value of a field of one
// byte, and of two, exactly once.
func TestNumbers(t *testing.T) {
	m, b := toyModel(t)
	fields, groups := m.Fields()
	if fields != 7 || groups != 5 {
		t.Errorf("%d fields in %d groups", fields, groups)
	}
	if want := m.First() + 256 + 65536; m.Count() != want {
		t.Errorf("%d damages, want %d", m.Count(), want)
	}
	specs, early := map[string]bool{}, map[string]bool{}
	values := map[string]map[byte]bool{}
	for n := range m.Count() {
		d, err := m.At(n)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil || d.Bytes() == 0 {
			t.Fatalf("damage %d: %+v, %v", n, d, err)
		}
		if n < m.First() && specs[d.Spec] {
			t.Errorf("damage %d repeats %s", n, d.Spec)
		}
		specs[d.Spec] = true
		if n < uint64(fields) {
			early[d.Group] = true
		}
		if p := d.Patches[0]; d.Group == "head.one" && p.Off == 16 {
			if values["one"] == nil {
				values["one"] = map[byte]bool{}
			}
			values["one"][p.Data[0]] = true
		}
	}
	if len(early) != groups {
		t.Errorf("the first damages are of %v", early)
	}
	if len(values["one"]) != 255 || values["one"][b[16]] {
		t.Errorf("head.one gets %d values", len(values["one"]))
	}
	if _, err := m.At(m.Count()); err == nil {
		t.Error("a damage beyond the last exists")
	}
}

// TestOnly keeps the fields of a pattern.
func TestOnly(t *testing.T) {
	m, _ := toyModel(t)
	only, err := m.Only(regexp.MustCompile("^head.(one|two)$"))
	if err != nil {
		t.Fatal(err)
	}
	if fields, groups := only.Fields(); fields != 2 || groups != 2 {
		t.Errorf("%d fields in %d groups", fields, groups)
	}
	if f := only.Field("head.two", ""); f == nil || f.Mask() != 0xffff ||
		only.Field("head.sum", "") != nil {
		t.Errorf("head.two is %+v", f)
	}
	if _, err := m.Only(regexp.MustCompile("tail")); err == nil {
		t.Error("a pattern without a field is accepted")
	}
}

// TestPairs damages two fields at once, under one checksum, which is right in the end. Different
// numbers are different pairs.
func TestPairs(t *testing.T) {
	m, b := toyModel(t)
	single := m.First()
	m.UsePairs()
	if m.Count() != single*(single-1) || m.First() != m.Count() {
		t.Errorf("%d pairs of %d damages", m.Count(), single)
	}
	seen, made := map[string]bool{}, 0
	for n := range m.Count() {
		d, err := m.At(n)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if seen[d.Spec] {
			t.Fatalf("pair %d repeats %s", n, d.Spec)
		}
		seen[d.Spec] = true
		if d.Group != "head.one+head.two" {
			continue
		}
		made++
		now := &Patched{Disk: disk(b), Patches: d.Patches}
		head := make([]byte, 12)
		if _, err := now.ReadAt(head, 16); err != nil {
			t.Fatal(err)
		}
		sum := binary.LittleEndian.Uint32(head[8:])
		clear(head[8:])
		if want := crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli)); sum != want {
			t.Fatalf("%s: the checksum is %#x, want %#x", d.Spec, sum, want)
		}
	}
	if made < 100 {
		t.Errorf("%d pairs of the same two fields", made)
	}
	if _, err := m.At(m.Count()); err == nil {
		t.Error("a pair beyond the last exists")
	}
}

// TestSealed damages a field under a checksum, which is made right, and the checksum itself.
func TestSealed(t *testing.T) {
	m, _ := toyModel(t)
	for n := range m.First() {
		d, err := m.At(n)
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		inSum := slices.ContainsFunc(d.Patches, func(p interp.Patch) bool {
			return p.Off+uint64(len(p.Data)) > 24 && p.Off < 28
		})
		if d.Group != "map!flip" && !inSum {
			t.Errorf("%s leaves the checksum as it is: %v", d.Spec, d.Patches)
		}
		if d.Group == "map!flip" && (len(d.Patches) != 1 || d.Patches[0].Off != 40) {
			t.Errorf("%s: %v", d.Spec, d.Patches)
		}
	}
}

// TestRaw damages the words of an unknown format that are not 0, without equal sectors.
func TestRaw(t *testing.T) {
	b := make([]byte, 4*512)
	for _, at := range []int{8, 512 + 8, 3*512 + 4} { // sectors 0 and 1 are equal
		binary.LittleEndian.PutUint32(b[at:], 7)
	}
	m, err := Raw(disk(b))
	if err != nil {
		t.Fatal(err)
	}
	if fields, groups := m.Fields(); fields != 2 || groups != 2 {
		t.Errorf("%d fields in %d groups", fields, groups)
	}
	d, err := m.At(0)
	if err != nil || d.What != "word at 0x8: 0x7 → 0x0" || d.Spec != "sector.0x0@byte=0x8=0x0" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Raw(disk(make([]byte, 4096))); err == nil {
		t.Error("an empty image has fields")
	}
}

// TestInterpreted lists the fields of ext3, with all that SWIFT's table 5 names, and makes each
// first damage that is possible.
func TestInterpreted(t *testing.T) {
	base, err := testimage.Build(t.Context(), "ext3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	m, err := NewModel(base, "ext3")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range m.fields {
		names[f.Name()] = true
	}
	for want, is := range map[string]bool{"superblock.inodes_count": true, "group.inode_table": true,
		"inode.links_count@kind=directory": true, "inode.block0@kind=file": true,
		"inode.block12@kind=file": true, "inode.block1@kind=file": false} {
		if names[want] != is {
			t.Errorf("a field %s: %v, want %v", want, names[want], is)
		}
	}
	// 19 is the directory below that of the entry: their names then make a loop.
	entry := m.Field("dirent.inode", "kind=linear")
	if entry == nil || !slices.Contains(entry.interesting(nil), 19) {
		t.Errorf("the entry %+v is not set to the number of a directory", entry)
	}
	made := 0
	for n := uint64(0); n < m.First(); n += 97 {
		switch d, err := m.At(n); {
		case err == nil && d.Bytes() > 0:
			made++
		case !errors.Is(err, ErrNone):
			t.Errorf("damage %d: %+v, %v", n, d, err)
		}
	}
	if made < 100 {
		t.Errorf("%d damages", made)
	}
}

// TestPlaces lists the fields of a map. An input that sets one under a checksum sets both.
func TestPlaces(t *testing.T) {
	covered, _ := toyModel(t)
	plain, err := fieldmap.Parse(regexp.MustCompile(`(?m)^ *checksums:.*\n`).
		ReplaceAll([]byte(toy), nil))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Mapped(covered.base, plain)
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := alone.Places()
	want := []Place{{"head.one", 16, 1}, {"head.two", 17, 2}, {"head.four", 19, 4},
		{"head.sum", 24, 4}}
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("%v, %v; want %v", list, err, want)
	}
	list, seals, err := covered.Places()
	if err != nil || !slices.Equal(list, want) {
		t.Errorf("with a checksum: %v, %v; want %v", list, err, want)
	}
	inputs, err := NewInputs(covered.base, list, seals, [][]byte{{1, 0, 9, 8}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := inputs.At(0)
	if err != nil {
		t.Fatal(err)
	}
	same, err := covered.Field("head.two", "").Damage(covered.base, 0x0809)
	if err != nil || d.What != "head.two: 0x201 → 0x809" || d.Bytes() != same.Bytes() ||
		d.Bytes() <= 2 {
		t.Errorf("%+v, and as a damage %+v, %v", d, same, err)
	}
}

// TestBtrfsPlaces finds the fields of Btrfs with the checksums of their blocks, which are right.
func TestBtrfsPlaces(t *testing.T) {
	base, err := testimage.Build(t.Context(), "btrfs", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	m, err := NewModel(base, "btrfs")
	if err != nil {
		t.Fatal(err)
	}
	list, seals, err := m.Places()
	if err != nil || len(list) < 300 || len(seals) < 5 {
		t.Fatalf("%d places, %d checksums, %v", len(list), len(seals), err)
	}
	for _, p := range list {
		b := make([]byte, p.Width)
		if _, err := base.ReadAt(b, int64(p.Off)); err != nil {
			t.Fatal(err)
		}
		made, err := seals.Mend(base, []fieldmap.Change{{Off: p.Off, Data: b}})
		if err != nil || len(made) != 1 {
			t.Fatalf("%s at %d: %d checksums, %v", p.Name, p.Off, len(made), err)
		}
		was := make([]byte, 4)
		if _, err := base.ReadAt(was, int64(made[0].Off)); err != nil || !bytes.Equal(was, made[0].Data) {
			t.Errorf("%s at %d: the checksum is %x, and made again %x, %v", p.Name, p.Off, was,
				made[0].Data, err)
		}
	}
}

// TestSources says of each file system where its fields come from.
func TestSources(t *testing.T) {
	list, err := Sources([]string{"exfat", "ext2", "btrfs", "ntfs"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, s.From)
	}
	if want := []string{"map", "interpreter", "interpreter", "words"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if list[0].Structures < 5 || list[0].Fields < 50 {
		t.Errorf("%+v", list[0])
	}
}
