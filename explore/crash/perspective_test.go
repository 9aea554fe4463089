package crash

import (
	"slices"
	"testing"
)

// inUnits returns the sets of sectors that a log of one write of four sectors, and one of two, can
// leave on the disk, as strings of 0 and 1.
func inUnits(t *testing.T, o Options) (sets []string) {
	t.Helper()
	base := diskOf(make([]byte, 8*SectorSize))
	data := make([]byte, 4*SectorSize)
	for i := range data {
		data[i] = 1
	}
	log := []Event{
		{Kind: Issued, Write: Write{ID: 1, Len: 4 * SectorSize, Data: data}, At: 1},
		{Kind: Issued, Write: Write{ID: 2, Off: 4 * SectorSize, Len: 2 * SectorSize,
			Data: data[:2*SectorSize]}, At: 2},
	}
	_, err := Each(base, list(log...), o, func(s *State) error {
		var set []byte
		b := make([]byte, SectorSize)
		for i := range 6 {
			if _, err := s.ReadAt(b, int64(i*SectorSize)); err != nil {
				return err
			}
			set = append(set, '0'+b[0])
		}
		sets = append(sets, string(set))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(sets)
	return sets
}

// TestOrders checks that each order forms exactly its sets of sectors.
func TestOrders(t *testing.T) {
	var oneBroken []string
	for i := range 16 {
		var set []byte
		for bit := range 4 {
			set = append(set, '0'+byte(i>>bit&1))
		}
		oneBroken = append(oneBroken, string(set)+"00")
	}
	oneBroken = append(oneBroken, "111110", "111101", "111111")
	slices.Sort(oneBroken)
	for name, c := range map[string]struct {
		options Options
		want    []string
	}{
		"in order": {Options{Order: InOrder}, []string{"000000", "111100", "111111"}},
		"in order, torn": {Options{Order: InOrder, Torn: true},
			[]string{"000000", "100000", "110000", "111000", "111100", "111110", "111111"}},
		"one broken": {Options{Order: OneBroken, Unit: SectorSize}, oneBroken},
		"any order":  {Options{}, []string{"000000", "000011", "111100", "111111"}},
	} {
		if got := inUnits(t, c.options); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if n := len(inUnits(t, Options{Unit: SectorSize})); n != 1<<6 {
		t.Errorf("%d sets of 6 sectors", n)
	}
}
