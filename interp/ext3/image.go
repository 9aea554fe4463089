package ext3

import (
	"fmt"
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// Image reads a whole image as one transaction of additions. If the file system needs recovery,
// Image replays the journal in memory. Time and memory grow with the contents of the file system.
// The errors are those of New. If the structure has faults, the Observation has them and no Txn.
func Image(d interp.Disk) (interp.Observation, error) { return ImageWith(d, interp.ImageOptions{}) }

// ImageWith is Image with bounds on memory and a report of progress.
func ImageWith(d interp.Disk, options interp.ImageOptions) (interp.Observation, error) {
	dev, err := join(d)
	if err != nil {
		return interp.Observation{}, err
	}
	m, err := Mount(dev, dev.Size())
	if err != nil {
		return interp.Observation{}, err
	}
	sb, err := readSuper(dev)
	if err != nil {
		return interp.Observation{}, err
	}
	unmounted := !ondisk.NeedsRecovery(sb)
	if !m.Geo.HasJournal() {
		unmounted = ondisk.MarksClean(sb)
		if options.InUse && !unmounted {
			return interp.Observation{}, interp.ErrNoState
		}
	}
	obs := wholeImage(m.Snapshot, m.Log.nextSeq, dev, dev.Size(), options)
	obs.Unmounted = unmounted
	dev.globalize(obs.Violations)
	return obs, nil
}

// join returns the disks of a Set as the devices of one file system, which has all of them.
func join(d interp.Disk) (*devices, error) {
	dev := newDevices(d, first(d))
	sb, err := readSuper(dev)
	if err != nil {
		return nil, err
	}
	geo, err := ondisk.ParseGeometry(sb, dev.Size())
	if err != nil {
		return nil, err
	}
	want := 1
	if geo.External {
		want = 2
	}
	if have := len(interp.Sizes(d)); have > want {
		return nil, fmt.Errorf("%s: the file system has %d disks, %d were given", schema.FS, want, have)
	}
	return dev.find(geo)
}

// wholeImage makes the records of all objects of a state.
func wholeImage(now Snapshot, generation uint32, dev io.ReaderAt, size uint64,
	options interp.ImageOptions) interp.Observation {
	obs := interp.Observation{Point: interp.CommitPoint, Generation: uint64(generation)}
	p := &parts{drop: options.Budget != nil, dropped: options.Stream}
	pass := func(alone *numberSet) *imageDiff {
		d := newImageDiff(now, generation, dev, size, p, change.NewNames())
		d.memory, d.progress, d.alone = options.Budget, options.Progress, alone
		obs.Unknown = d.run()
		return d
	}
	d := pass(&numberSet{})
	if obs.Unknown == nil && len(d.faults) == 0 && !p.dropped && d.disputed.len() > 0 {
		d = pass(&d.disputed) // runs of several owners that overlap are to be taken apart
	}
	switch {
	case obs.Unknown != nil:
	case len(d.faults) > 0:
		obs.Violations = d.faults
	case p.dropped:
		obs.Unknown = d.stream(generation, dev, &obs)
	default:
		v := d.view()
		v.parents = &d.parents
		obs.Txn, obs.View = d.txn, v
	}
	return obs
}
