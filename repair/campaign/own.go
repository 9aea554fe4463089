package campaign

import (
	"context"
	"slices"

	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/testimage"
)

// maxSuite bounds the images of a suite, in bytes.
const maxSuite = 256 << 20

// An ownImage is the image of a suite that a worker has at hand, because many damages in a row are
// of the same one.
type ownImage struct {
	path  string
	image *testimage.Image // nil: it cannot be read, or is too large
	// shown are the failures that the image shows without further damage, by mode.
	shown map[string][]Failure
}

func (o *ownImage) close() (err error) {
	if o.image != nil {
		err = o.image.Close()
	}
	*o = ownImage{}
	return err
}

// use makes the image of a damage the base: that of the campaign, or one of a suite. It returns
// false if that cannot be read, or is too large: suites have files that only look like images.
func (w *worker) use(c *Campaign, d *damage.Damage) (bool, error) {
	if d.Image == "" {
		w.base = c.base
		return true, nil
	}
	if w.own.path != d.Image {
		w.base = c.base
		if err := w.own.close(); err != nil {
			return false, err
		}
		w.own = ownImage{path: d.Image, shown: map[string][]Failure{}}
		m, err := testimage.Unpack(context.Background(), d.Image, c.FS, c.tmp)
		switch {
		case err != nil: // no image
		case m.Size() > maxSuite:
			return false, m.Close()
		default:
			w.own.image = m
		}
	}
	if w.own.image == nil {
		return false, nil
	}
	w.base = w.own.image
	return true, nil
}

// unknown returns the failures of a trial that the image of a suite does not show without a further
// damage: a campaign of these images alone finds the others.
func (w *worker) unknown(t *trial, d *damage.Damage, m *adapter.Mode) ([]Failure, error) {
	if d.Image == "" || len(d.Patches) == 0 || len(t.failures) == 0 {
		return t.failures, nil
	}
	known, tried := w.own.shown[m.Name]
	if !tried {
		w.again = true
		bare, err := w.try(nil, m)
		w.again = false
		if err != nil {
			return nil, err
		}
		if bare.cut {
			return nil, errLate
		}
		known = bare.failures
		w.own.shown[m.Name] = known
	}
	return slices.DeleteFunc(t.failures, func(f Failure) bool {
		return slices.ContainsFunc(known, func(k Failure) bool { return k.same(f) })
	}), nil
}
