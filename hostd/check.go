package hostd

import (
	"context"
	"time"

	"fsward/blocktap"
	"fsward/interp/detect"
)

// Check judges a whole image as one transaction of additions. The image is only read.
func Check(ctx context.Context, image, fs string, cfg RulesConfig) (*Event, error) {
	rules, err := cfg.Load()
	if err != nil {
		return nil, err
	}
	disk, err := blocktap.OpenImage(image)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	start := time.Now()
	name, obs, err := detect.Image(disk, fs)
	if err != nil {
		return nil, err
	}
	interpreted := time.Since(start)
	ev := judge(ctx, rules, name, obs)
	ev.Kind = KindImage
	ev.InterpNS, ev.CheckNS = interpreted.Nanoseconds(), time.Since(start).Nanoseconds()
	return ev, nil
}
