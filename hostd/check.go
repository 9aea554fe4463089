package hostd

import (
	"context"
	"time"

	"fsward/blocktap"
	"fsward/interp/detect"
)

// Check judges a whole image as one transaction of additions, by the rules in a folder or, if it is "", by
// those built in. The image is only read.
func Check(ctx context.Context, image, fs, rulesDir string) (*Event, error) {
	return CheckImage(ctx, image, fs, RulesConfig{Dir: rulesDir})
}

// CheckImage is Check with all that can be said of how rules judge.
func CheckImage(ctx context.Context, image, fs string, cfg RulesConfig) (*Event, error) {
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
