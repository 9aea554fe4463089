package hostd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/interp/detect"
)

// ReplayConfig says what to replay.
type ReplayConfig struct {
	Base      string // image that the log starts from; plain, sparse, or compressed with zstd or gzip
	Log       string // dm-log-writes log; may be compressed
	FS        string
	Rules     RulesConfig
	KeepGoing bool // go on after a violation, the refused commit's writes taken as written
	Sinks     []Sink
}

// Replayed sums up a replay.
type Replayed struct {
	Kind      string `json:"event"` // "replayed"
	Commits   uint64 `json:"commits"`
	Violated  uint64 `json:"violated"`
	Undecided uint64 `json:"undecided"`
	Records   uint64 `json:"records"`
	NS        int64  `json:"ns"` // the whole replay, nanoseconds
}

// Event counts: Replayed is a Sink.
func (r *Replayed) Event(ev *Event) {
	if ev.Kind == KindCommit {
		r.Commits++
		r.Records += uint64(ev.Records)
	}
	switch ev.Outcome {
	case change.Violated:
		r.Violated++
	case change.Undecided:
		r.Undecided++
	}
}

// Outcome is that of the whole replay.
func (r *Replayed) Outcome() change.Outcome {
	switch {
	case r.Violated > 0:
		return change.Violated
	case r.Undecided > 0:
		return change.Undecided
	default:
		return change.Holds
	}
}

// Replay feeds a log of writes through the same flow as a guest's, over a base that it does not change.
func Replay(ctx context.Context, cfg ReplayConfig, log *zap.Logger) (*Replayed, error) {
	rules, err := cfg.Rules.Load()
	if err != nil {
		return nil, err
	}
	base, err := blocktap.OpenImage(cfg.Base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	tape, err := trace.Open(cfg.Log)
	if err != nil {
		return nil, err
	}
	defer tape.Close()
	disk, err := overlay.New(base)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	interpreter, err := detect.Follow(disk, cfg.FS)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Base, err)
	}

	out := &Replayed{Kind: "replayed"}
	guard := &Guard{interp: interpreter, rules: rules, policy: refusePolicy{}, sinks: append([]Sink{out}, cfg.Sinks...), log: log}
	if cfg.KeepGoing {
		guard.policy = logPolicy{}
	}
	device := blocktap.NewDevice(disk, guard)
	start := time.Now()
	err = feed(ctx, device, tape)
	out.NS = time.Since(start).Nanoseconds()
	return out, err
}

// feed performs the requests of a log until its end or until one is refused.
func feed(ctx context.Context, device *blocktap.Device, tape *trace.File) error {
	for {
		entry, err := tape.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		r, ok := entry.Request()
		if !ok {
			continue
		}
		switch err := device.Do(ctx, &r); {
		case errors.Is(err, blocktap.ErrRefused):
			return nil
		case errors.Is(err, blocktap.ErrRange):
			return fmt.Errorf("log entry %d: %w: is it the right base?", entry.Index, err)
		case err != nil:
			return fmt.Errorf("log entry %d: %w", entry.Index, err)
		}
	}
}
