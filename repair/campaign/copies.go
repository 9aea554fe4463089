package campaign

import (
	"fmt"
	"maps"
	"slices"

	"fsward/blocktap/overlay"
	"fsward/interp"
	"fsward/repair/fieldmap"
	"fsward/repair/testimage"
)

// minCopies is the least number of sound copies that outvote a damaged one: of two copies that
// differ, none is known to be right.
const minCopies = 2

// newCopies returns the numbers of which the image has enough copies.
func newCopies(fs string, base *testimage.Image) (list []*fieldmap.Copied, err error) {
	m, err := fieldmap.Known(fs)
	if err != nil {
		return nil, err
	}
	if m != nil {
		list, err = m.FindCopies(base)
	}
	if err != nil {
		return nil, err
	}
	few := func(c *fieldmap.Copied) bool { return len(c.Each) <= minCopies }
	list = slices.DeleteFunc(list, few)
	if len(list) == 0 {
		return nil, fmt.Errorf("fsward knows no number of %s with more than %d copies", fs, minCopies)
	}
	return list, nil
}

// compareCopies looks whether the program, which calls the file system clean, keeps the value of a
// damaged copy although most copies had another one. This shows a program that trusts the first
// superblock, and makes the others like it: the result is consistent, so no other check sees it.
func compareCopies(w *worker, t *trial) error {
	if len(w.checks.copies) == 0 {
		return nil
	}
	damaged, err := overlay.New(w.base)
	if err != nil {
		return err
	}
	defer damaged.Close()
	for _, p := range t.patches {
		if _, err := damaged.WriteAt(p.Data, int64(p.Off)); err != nil {
			return err
		}
	}
	now, err := w.contents()
	if err != nil {
		return err
	}
	defer now.Close()
	for _, c := range w.checks.copies {
		kept, err := keptCopy(c, damaged, now)
		if err != nil {
			return err
		}
		if kept != "" {
			t.add(Failure{Kind: Trust, Run: len(t.runs), Messages: []string{c.Name}, Detail: kept})
			return nil
		}
	}
	return nil
}

// keptCopy describes a damaged copy whose value a repair keeps against more than half of the
// copies; "": there is none.
func keptCopy(c *fieldmap.Copied, damaged, now interp.Disk) (string, error) {
	wrong := make(map[int]uint64) // values of the damaged copies
	for i := range c.Each {
		v, err := c.Each[i].ReadFrom(damaged)
		if err != nil {
			return "", err
		}
		if v != c.Value {
			wrong[i] = v
		}
	}
	sound := len(c.Each) - len(wrong)
	if sound < minCopies || sound <= len(wrong) {
		return "", nil
	}
	for _, i := range slices.Sorted(maps.Keys(wrong)) {
		v, err := c.Each[i].ReadFrom(now)
		if err != nil { // the program cut the image off there
			continue
		}
		if v == wrong[i] {
			return fmt.Sprintf("the %s was %d by %d of %d records before the repair, and the program "+
				"keeps %d of the one at %d", c.Name, c.Value, sound, len(c.Each), v, c.Each[i].At), nil
		}
	}
	return "", nil
}
