package ext3

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fsward/interp/ext3/ondisk"
)

// TestDirDiff checks that a nameTable finds the same differences as two maps.
func TestDirDiff(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := newNameTable()
	for n := range 200 {
		d.reset()
		was, is := make(map[string]entryValue), make(map[string]entryValue)
		most := 1 + random.IntN(40)
		if n%50 == 7 {
			most = maxSlots
		}
		for range most {
			name := fmt.Sprint("f", random.IntN(most))
			v := entryValue{ino: 1 + uint32(random.IntN(3)), typ: 1}
			if random.IntN(4) > 0 {
				was[name] = v
				d.at([]byte(name)).was = v
			}
			if random.IntN(4) == 0 {
				v.ino++
			}
			if random.IntN(4) > 0 {
				is[name] = v
				d.at([]byte(name)).is = v
			}
		}
		var wantGone, wantNow, gone, now []string
		for name := range was {
			if is[name].ino == 0 {
				wantGone = append(wantGone, name)
			}
		}
		for name, v := range is {
			if v != was[name] {
				wantNow = append(wantNow, name)
			}
			if at := (ondisk.Entry{Name: []byte(name)}); d.twice(1, at) == d.twice(0, at) {
				t.Fatalf("%s is at another place than block 0 or at none", name)
			}
		}
		slices.Sort(wantGone)
		slices.Sort(wantNow)
		listGone, listNow := d.changed()
		for _, n := range listGone {
			gone = append(gone, string(n.name))
		}
		for _, n := range listNow {
			now = append(now, string(n.name))
		}
		if !slices.Equal(gone, wantGone) || !slices.Equal(now, wantNow) ||
			d.twice(1, ondisk.Entry{Name: []byte("none")}) {
			t.Fatalf("%d names: %d and %d differ, want %d and %d", most, len(gone), len(now), len(wantGone),
				len(wantNow))
		}
	}
}
