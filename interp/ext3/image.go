package ext3

import (
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// Image reads a whole image as one transaction of additions; a journal that is needed is replayed in
// memory. It takes time and memory in proportion to what the file system holds. The errors are those
// of New; faults in the structure are in the Observation, without a Txn then.
func Image(d interp.Disk) (interp.Observation, error) { return ImageWith(d, interp.ImageOptions{}) }

// ImageWith is Image with bounds, and with word of how far it has come.
func ImageWith(d interp.Disk, options interp.ImageOptions) (interp.Observation, error) {
	m, err := Mount(d, d.Size())
	if err != nil {
		return interp.Observation{}, err
	}
	if options.InUse && m.Layout.Geo.JournalInum == 0 {
		sb, err := readSuper(d)
		if err != nil {
			return interp.Observation{}, err
		}
		if !ondisk.MarksClean(sb) {
			return interp.Observation{}, interp.ErrNoState
		}
	}
	return m.wholeImage(d, d.Size(), options), nil
}

func (m *Mounted) wholeImage(d io.ReaderAt, size uint64, options interp.ImageOptions) interp.Observation {
	obs := interp.Observation{Point: interp.CommitPoint, Generation: uint64(m.Seq)}
	w := &whole{drop: options.Budget != nil, dropped: options.Stream, progress: options.Progress}
	delta := m.wholeDelta(d, size, w, change.NewNames())
	delta.memory = options.Budget
	obs.Unknown = delta.whole()
	switch {
	case obs.Unknown != nil:
	case len(delta.faults) > 0:
		obs.Violations = delta.faults
	case w.dropped:
		obs.Unknown = m.streamed(d, size, delta, &obs)
	default:
		delta.conclude(&obs)
	}
	return obs
}

// wholeDelta begins the comparison of a file system that has nothing with all that is there.
func (m *Mounted) wholeDelta(d io.ReaderAt, size uint64, w *whole, names *change.Names) *delta {
	txn := &change.Txn{Schema: schema, Generation: uint64(m.Seq), Names: names}
	delta := newDelta(m.Layout, m.Layout, size, NewState(d, m.Layout.Geo, size), m.State, nil, nil, txn)
	delta.image = w
	return delta
}

// conclude puts what a delta found into an observation: records only if the structure is sound.
func (d *delta) conclude(obs *interp.Observation) {
	if obs.Violations = append(obs.Violations, d.faults...); len(obs.Violations) == 0 {
		obs.Txn, obs.View = d.txn, &view{Layout: d.Layout, state: d.new, names: d.txn.Names, orphan: d.isOrphan}
	}
}
