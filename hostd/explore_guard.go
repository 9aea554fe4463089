package hostd

import (
	"context"
	"strings"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/explore"
	"fsward/interp/detect"
)

// ExploreGuard is a guard of the disks of an explored stack: what was written to them takes the way of a guest's writes, and what is refused
// first, by the structure or by the rules, is an error that the explorer has found.
func ExploreGuard(log *zap.Logger) explore.Guard {
	return func(ctx context.Context, disks []explore.Recorded) (*explore.Found, error) {
		cfg := ReplayConfig{FS: detect.Auto, Sinks: []Sink{new(firstRefusal)}}
		for _, d := range disks {
			name := d.Name
			if len(disks) == 1 {
				name = ""
			}
			cfg.Disks = append(cfg.Disks, ReplayDisk{Name: name, Base: d.Base, Log: d.Log})
		}
		_, err := Replay(ctx, cfg, log)
		if refused := cfg.Sinks[0].(*firstRefusal).found; refused != nil {
			return refused, nil
		}
		return nil, err
	}
}

// firstRefusal keeps the first event that says that something was refused: a Sink.
type firstRefusal struct{ found *explore.Found }

// Event takes it.
func (f *firstRefusal) Event(ev *Event) {
	if f.found != nil || ev.Action != Refused {
		return
	}
	kind := "undecided"
	if ev.Outcome == change.Violated && len(ev.Violations) > 0 {
		kind = ev.Violations[0].Rule
	}
	var text strings.Builder
	NewTextReport(&text).Event(ev)
	f.found = &explore.Found{Kind: "refused: " + kind, Text: text.String()}
}
