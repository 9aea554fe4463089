package offline

import (
	"context"
	"errors"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/qemudisk"
	"fsward/blocktap/trace"
	"fsward/hostd/recording"
	"fsward/interp"
)

// Overlays are the disks of a guest over images: writes go to temporary files, and the images do
// not change.
type Overlays struct {
	*interp.Set                 // the disks as one address space
	Disks       []blocktap.Disk // each disk
	closers     closers
}

// OpenOverlays puts overlays over images, in their order.
func OpenOverlays(images []string) (*Overlays, error) {
	o := &Overlays{}
	var disks []interp.Disk
	for _, path := range images {
		base, err := qemudisk.OpenImage(path)
		if err != nil {
			return nil, errors.Join(err, o.Close())
		}
		o.closers.add(base)
		disk, err := overlay.New(base)
		if err != nil {
			return nil, errors.Join(err, o.Close())
		}
		o.closers.add(disk)
		o.Disks, disks = append(o.Disks, disk), append(disks, disk)
	}
	var err error
	if o.Set, err = interp.NewSet(disks...); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Close removes the temporary files and closes the images.
func (o *Overlays) Close() error { return o.closers.close() }

// openRing puts overlays over the bases of recorded disks, and returns the logs of each segment of
// the recording.
func openRing(recorded []ReplayDisk) (o *Overlays, segments [][]string, err error) {
	var logs, bases []string
	for _, d := range recorded {
		logs, bases = append(logs, d.Log), append(bases, d.Base)
	}
	found, err := recording.Find(logs, bases)
	if err != nil {
		return nil, nil, err
	}
	if o, err = OpenOverlays(bases); err != nil {
		return nil, nil, err
	}
	for i, before := range found.Before {
		for _, log := range before {
			if err := recording.Apply(log, o.Disks[i]); err != nil {
				return nil, nil, errors.Join(err, o.Close())
			}
		}
	}
	return o, found.Segments, nil
}

// feedLogs performs the requests of one log for each device: see feed.
func feedLogs(ctx context.Context, devices []*blocktap.Device, logs []string) (refused bool,
	err error) {
	var open closers
	defer func() { err = errors.Join(err, open.close()) }()
	var readers []*trace.Reader
	for _, log := range logs {
		file, err := trace.Open(log)
		if err != nil {
			return false, err
		}
		open.add(file)
		readers = append(readers, file.Reader)
	}
	merged, err := trace.Merge(readers...)
	if err != nil {
		return false, err
	}
	return feed(ctx, devices, merged)
}

// openRecorded opens recorded disks: overlays over their bases, and their logs merged in order.
func openRecorded(recorded []ReplayDisk) (*Overlays, *trace.Merged, error) {
	var bases []string
	for _, d := range recorded {
		bases = append(bases, d.Base)
	}
	o, err := OpenOverlays(bases)
	if err != nil {
		return nil, nil, err
	}
	var recordings []*trace.Reader
	for _, d := range recorded {
		recording, err := trace.Open(d.Log)
		if err != nil {
			return nil, nil, errors.Join(err, o.Close())
		}
		o.closers.add(recording)
		recordings = append(recordings, recording.Reader)
	}
	merged, err := trace.Merge(recordings...)
	if err != nil {
		return nil, nil, errors.Join(err, o.Close())
	}
	return o, merged, nil
}
