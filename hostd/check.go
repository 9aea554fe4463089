package hostd

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"time"

	"fsward/blocktap"
	"fsward/interp"
	"fsward/interp/detect"
)

// Check judges a whole image as one transaction of additions, or the images of all disks of one file
// system. They are only read.
func Check(ctx context.Context, images []string, fs string, cfg RulesConfig) (*Event, error) {
	cfg.Patient = true
	rules, err := cfg.Load()
	if err != nil {
		return nil, err
	}
	disks, err := openImages(images)
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	start := time.Now()
	name, obs, err := detect.ImageWith(disks, fs, interp.ImageOptions{
		Room: interp.NewRoom(cfg.memory()/2, nil), CacheBytes: int(cfg.memory() / 16),
	})
	if _, full := errors.AsType[*interp.RoomError](obs.Unknown); full && err == nil {
		// Of ext3 all records have to be held, and nobody but this process needs the memory.
		debug.SetMemoryLimit(math.MaxInt64)
		name, obs, err = detect.Image(disks, fs)
	}
	if err != nil {
		return nil, err
	}
	interpreted := time.Since(start)
	ev := judge(ctx, rules, name, obs, nil)
	ev.Kind = KindImage
	place(ev, 0, func(i int) string { return images[i] })
	ev.InterpNS, ev.CheckNS = interpreted.Nanoseconds(), time.Since(start).Nanoseconds()
	return ev, nil
}

// images are the images of the disks of one guest, opened for reading.
type images struct {
	*interp.Set
	disks []blocktap.Disk
}

// openImages opens images. On an error nothing stays open.
func openImages(paths []string) (*images, error) {
	m := &images{}
	var disks []interp.Disk
	for _, path := range paths {
		d, err := blocktap.OpenImage(path)
		if err != nil {
			m.Close()
			return nil, err
		}
		m.disks = append(m.disks, d)
		disks = append(disks, d)
	}
	var err error
	if m.Set, err = interp.NewSet(disks...); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close closes the images.
func (m *images) Close() {
	for _, d := range m.disks {
		_ = d.Close() // nothing was written
	}
}
