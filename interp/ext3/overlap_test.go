package ext3

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// overlapping makes an image in which the blocks of a file (inode 13) are twelve, of which the
// first six are the last six of another file (inode 12). It returns the first of the twelve.
func overlapping(t *testing.T) (image string, first uint32) {
	t.Helper()
	image = altered(t, imageFault{mkfs: []string{"-b", "1024"},
		debugfs: "write /dev/null a\nwrite /dev/null b\nfallocate a 0 11\nfallocate b 0 11\n" +
			"sif a size 12288\nsif b size 12288\n",
		alter: func(b []byte, m *Mounted) {
			a, err := m.Inode(12)
			if err != nil {
				t.Fatal(err)
			}
			first = a.Pointer(6)
			at := m.inodeAddr(13) + ondisk.InodeBlock0At
			for n := range uint32(ondisk.NDirect) {
				binary.LittleEndian.PutUint32(b[at+4*uint64(n):], first+n)
			}
		}})
	return image, first
}

// TestOverlappingFiles checks that each block that two files share is reported for both, when the
// records are kept and when they come part by part, although the runs of the files overlap in part.
func TestOverlappingFiles(t *testing.T) {
	image, first := overlapping(t)
	obs, err := Image(OpenImage(t, image))
	if err != nil {
		t.Fatal(err)
	}
	found := slices.DeleteFunc(Judge(Engine(t), obs),
		func(line string) bool { return !strings.HasPrefix(line, "ext3/5 ") })
	var want []string
	for n := range uint32(6) {
		want = append(want, fmt.Sprintf("k(%d,owner,a(12,%d))", first+n, 6+n),
			fmt.Sprintf("k(%d,owner,a(13,%d))", first+n, n))
	}
	if len(found) != len(want) {
		t.Errorf("%d violations, want %d: %q", len(found), len(want), found)
	}
	for _, id := range want {
		if !slices.ContainsFunc(found, func(line string) bool { return strings.Contains(line, id) }) {
			t.Errorf("%s is not reported", id)
		}
	}
	parts, err := ImageWith(OpenImage(t, image), interp.ImageOptions{Stream: true})
	if err != nil || parts.Stream == nil {
		t.Fatalf("no stream: %v %v", err, parts.Unknown)
	}
	var records []change.Record
	err = parts.Stream.Each(func(t *change.Txn) error {
		records = append(records, t.Records...)
		return nil
	})
	if err != nil || !slices.Equal(records, obs.Txn.Records) {
		t.Errorf("%d records part by part, %d kept: %v", len(records), len(obs.Txn.Records), err)
	}
	if n := parts.Stream.Len(); n != len(records) {
		t.Errorf("the stream has %d records, not %d", n, len(records))
	}
}

// TestRunsInView checks the queries for ranges of blocks against the bitmaps.
func TestRunsInView(t *testing.T) {
	image, _ := overlapping(t)
	obs, err := Image(OpenImage(t, image))
	if err != nil {
		t.Fatal(err)
	}
	v := obs.View.(*view)
	last := change.Object{Kind: ondisk.KindBlock, ID: ^uint64(0), Sub: ^uint64(0)}
	var up, down []change.Object
	for o, err := range v.Scan(change.Object{Kind: ondisk.KindBlock}, last) {
		if err != nil {
			t.Fatal(err)
		}
		up = append(up, o)
	}
	for o, err := range v.ScanDown(change.Object{Kind: ondisk.KindBlock}, last) {
		if err != nil {
			t.Fatal(err)
		}
		down = append(down, o)
	}
	slices.Reverse(down)
	if !slices.Equal(up, down) || len(up) < 2 {
		t.Fatalf("runs upwards %v, downwards %v", up, down)
	}
	used := numberSet{}
	for _, o := range up {
		for b := o.ID; b < o.ID+o.Sub; b++ {
			used.add(uint32(b))
		}
		longer := o
		longer.Sub++
		g := v.Geo.GroupOf(uint32(o.ID))
		for _, tc := range []struct {
			o    change.Object
			want bool
		}{{o, true}, {longer, false}, {change.Object{Kind: o.Kind, ID: o.ID}, false}} {
			if ok, err := v.Exists(tc.o); ok != tc.want || err != nil {
				t.Errorf("%v exists: %v %v", tc.o, ok, err)
			}
		}
		if n, _, err := v.Get(o, ondisk.FieldGroup); err != nil || n != change.Num(uint64(g)) {
			t.Errorf("%v is in group %v: %v", o, n, err)
		}
	}
	for b := v.Geo.FirstData; b < v.Geo.Blocks; b++ {
		if ok, err := v.allocated(b); err != nil || ok != used.has(b) {
			t.Fatalf("block %d is used: %v %v", b, ok, err)
		}
	}
}

// TestLengthInView checks the lengths of runs of pointers that begin inside a file.
func TestLengthInView(t *testing.T) {
	image, _ := overlapping(t)
	obs, err := Image(OpenImage(t, image))
	if err != nil {
		t.Fatal(err)
	}
	v := obs.View.(*view)
	i, err := v.Inode(12)
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(ondisk.NDirect) {
		o := change.Object{Kind: ondisk.KindOwner, ID: uint64(i.Pointer(int(n))), Sub: 12, Aux: n}
		length, ok, err := v.Get(o, ondisk.FieldLength)
		if err != nil || !ok || length != change.Num(ondisk.NDirect-n) {
			t.Errorf("the length from position %d is %v: %v", n, length, err)
		}
	}
}
