package ext3

import (
	"io"

	"fsward/change"
	"fsward/interp"
)

// Image reads a whole image as one transaction of additions; a journal that is needed is replayed in
// memory. It takes time and memory in proportion to what the file system holds. The errors are those
// of New; faults in the structure are in the Observation, without a Txn then.
func Image(d interp.Disk) (interp.Observation, error) { return ImageWith(d, interp.ImageOptions{}) }

// ImageWith is Image with bounds, and with word of how far it has come.
func ImageWith(d interp.Disk, options interp.ImageOptions) (interp.Observation, error) {
	m, err := mount(d, d.Size())
	if err != nil {
		return interp.Observation{}, err
	}
	if options.InUse && m.layout.geo.journalInum == 0 {
		sb, err := readSuper(d)
		if err != nil {
			return interp.Observation{}, err
		}
		if !marksClean(sb) {
			return interp.Observation{}, interp.ErrNoState
		}
	}
	return m.wholeImage(d, d.Size(), options), nil
}

func (m *mounted) wholeImage(d io.ReaderAt, size uint64, options interp.ImageOptions) interp.Observation {
	obs := interp.Observation{Point: interp.CommitPoint, Generation: uint64(m.seq)}
	txn := &change.Txn{Schema: schema, Generation: obs.Generation, Names: change.NewNames()}
	nothing := newState(d, m.layout.geo, size)
	delta := newDelta(m.layout, m.layout, size, nothing, m.state, nil, nil, txn)
	delta.image = true
	delta.follows(options)
	obs.Unknown = delta.run()
	if obs.Unknown == nil && delta.dropped != nil {
		obs.Violations = delta.faults
		obs.Unknown = delta.dropped
		return obs
	}
	if obs.Unknown == nil {
		delta.conclude(&obs)
	}
	return obs
}

// follows makes an image keep to what was asked of it.
func (d *delta) follows(options interp.ImageOptions) {
	d.room, d.drop, d.progress = options.Room, options.Room != nil, options.Progress
}

// conclude puts what a delta found into an observation: records only if the structure is sound.
func (d *delta) conclude(obs *interp.Observation) {
	if obs.Violations = append(obs.Violations, d.faults...); len(obs.Violations) == 0 {
		obs.Txn, obs.View = d.txn, &view{layout: d.layout, state: d.new, names: d.txn.Names, orphan: d.isOrphan}
	}
}
