package vote

import (
	"slices"
	"testing"
)

// TestShared looks a field up on each file system and back.
func TestShared(t *testing.T) {
	table, err := Shared()
	if err != nil {
		t.Fatal(err)
	}
	all := map[Field][]string{}
	for _, fs := range table.FileSystems() {
		if table.Family(fs) == "" {
			t.Errorf("%s has no family", fs)
		}
		for _, f := range table.Fields(fs) {
			group, place, ok := table.On(fs, f)
			back, known := table.Field(fs, group, place)
			if !ok || !known || back != f {
				t.Errorf("%s: %v is %s@%s, which is %v", fs, f, group, place, back)
			}
			if !slices.Contains(all[f], table.Family(fs)) {
				all[f] = append(all[f], table.Family(fs))
			}
		}
	}
	enough := 0
	for _, families := range all {
		if len(families) >= 3 {
			enough++
		}
	}
	if enough < 40 { // SWIFT's table 10 has 19
		t.Errorf("%d fields are shared by three families", enough)
	}
	for _, f := range table.Fields("exfat") {
		if len(all[f]) < 3 {
			t.Errorf("%v of exfat is shared by %v only", f, all[f])
		}
	}
	if _, ok := table.Field("ext3", "inode.flags", "kind=root"); ok {
		t.Error("inode.flags is shared")
	}
}

// TestTally votes.
func TestTally(t *testing.T) {
	mine := Ballot{"f size": false, "f mode": false, "d links": false, "f uid": true, "x size": false}
	others := []Ballot{{"f size": true, "f mode": false, "d links": true, "f uid": false},
		{"f size": true, "f mode": true, "d links": true}, {"f size": false, "f mode": false}}
	got := Tally(mine, others)
	if !slices.Equal(got, []string{"d links", "f size"}) {
		t.Errorf("%v", got)
	}
	if names := Attributes(append(got, "a b size")); !slices.Equal(names, []string{"links", "size"}) {
		t.Errorf("%v", names)
	}
	if got := Tally(mine, others[:1]); len(got) != 0 {
		t.Errorf("one voter decides: %v", got)
	}
}

func TestWhole(t *testing.T) {
	if !(Ballot{"a size": true}).Whole() || (Ballot{"a size": true, "b size": false}).Whole() {
		t.Error("a ballot is whole if nothing is lost")
	}
}

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ value, want uint64 }{{0, 0}, {0xffff, 0xffffffff},
		{0x8000, 0x80000000}, {0x7fff, 0x7fffffff}, {6, 31}, {4, 29}, {99, 99}} {
		if got := Translate(c.value, 5, 0xffff, 30, 0xffffffff); got != c.want {
			t.Errorf("%#x becomes %#x, want %#x", c.value, got, c.want)
		}
	}
}
