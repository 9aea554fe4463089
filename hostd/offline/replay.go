package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/interp/detect"
)

// ReplayConfig selects the recording to replay.
type ReplayConfig struct {
	Disks []ReplayDisk // of one guest
	FS    string
	Rules guard.RulesConfig
	// Degraded says that the Btrfs lacks devices.
	Degraded bool
	// DataOrdered says that the guest mounted ext3 with data=ordered.
	DataOrdered bool
	// Memory bounds the memory of each disk as in a guard: a larger commit is judged part by part.
	Memory memory.Limits
	// Work bounds the steps of each judgment; nil: as in a guard.
	Work      *change.WorkBudget
	KeepGoing bool // go on after a violation, as if the refused commit had been written
	// Accept goes on after an undecided commit too, and compares the next one with it, as a guard does
	// with --on-undecided pass.
	Accept bool
	Sinks  []guard.Sink
}

// A ReplayDisk is a recorded disk. The logs of several disks must belong to one recording, which
// holds the order of writes across disks.
type ReplayDisk struct {
	Name string // "" for a disk that stands alone
	// Base is the image that the log starts from; plain, sparse, or compressed with zstd or gzip. With
	// IMG:VOLUME the file system on that volume alone is judged.
	Base string
	Log  string // dm-log-writes log, or the first path of a ring of them; may be compressed
}

// Replayed is the summary of a replay.
type Replayed struct {
	Kind      string `json:"event"` // always "replayed"
	Commits   uint64 `json:"commits"`
	Violated  uint64 `json:"violated"`
	Undecided uint64 `json:"undecided"`
	Records   uint64 `json:"records"`
	NS        int64  `json:"ns"` // time of the whole replay, nanoseconds
}

// Event counts an event: Replayed is a Sink.
func (r *Replayed) Event(ev *guard.Event) {
	if ev.Kind == guard.KindCommit {
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

// Outcome returns the worst verdict of the replay.
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

// Replay sends the writes of a log through the flow of a guard, over a base that it does not
// change.
func Replay(ctx context.Context, cfg ReplayConfig, log *zap.Logger) (*Replayed, error) {
	cfg.Rules.Memory = cfg.Memory.Disk()
	rules, err := cfg.Rules.Load()
	if err != nil {
		return nil, err
	}
	recorded, only, err := splitBases(cfg.Disks)
	if err != nil {
		return nil, err
	}
	disks, segments, err := openRing(recorded)
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	limits := cfg.Memory.ForInterpreter(nil)
	if limits.Work = cfg.Work; limits.Work == nil {
		limits.Work = guard.NewWork(change.WorkLimits{})
	}
	follower, err := guard.FollowVolumes(disks, detect.VolumeOptions{FS: cfg.FS, Limits: limits,
		Only: only, Degraded: cfg.Degraded}, func(i int) string { return recorded[i].Base })
	if err != nil {
		return nil, err
	}
	if cfg.DataOrdered {
		follower.ExpectOrdered()
	}
	for _, i := range follower.Numbers() {
		rules.Prepare(follower.State(i).FS)
	}
	out := &Replayed{Kind: "replayed"}
	var policy guard.Policy = guard.RefusePolicy{}
	if cfg.KeepGoing || cfg.Accept {
		policy = guard.LogPolicy{}
	}
	var names []string
	for _, d := range cfg.Disks {
		names = append(names, d.Name)
	}
	p := guard.NewPipeline(guard.PipelineConfig{Disks: disks.Disks, Names: names,
		Interpreter: follower, Rules: rules, Policy: policy, Accept: cfg.Accept,
		Sinks: append([]guard.Sink{out}, cfg.Sinks...)}, log)
	defer p.Close()
	start := time.Now()
	for _, logs := range segments {
		ended, e := feedLogs(ctx, p.Devices, logs)
		if err = e; err != nil || ended {
			break
		}
	}
	out.NS = time.Since(start).Nanoseconds()
	return out, err
}

// closers are closed at the end, the last one first.
type closers []io.Closer

func (c *closers) add(one io.Closer) { *c = append(*c, one) }

func (c *closers) close() error {
	var all error
	for _, one := range slices.Backward(*c) {
		all = errors.Join(all, one.Close())
	}
	return all
}

// Feed performs the requests of logs on their devices, until the logs end or a request is refused.
func Feed(ctx context.Context, devices []*blocktap.Device, recording *trace.Merged) error {
	_, err := feed(ctx, devices, recording)
	return err
}

// feed is Feed that reports whether a request was refused.
func feed(ctx context.Context, devices []*blocktap.Device,
	recording *trace.Merged) (refused bool, err error) {
	for {
		i, entry, err := recording.Next()
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case ctx.Err() != nil:
			return false, ctx.Err()
		}
		r, ok := entry.Request()
		if !ok {
			continue
		}
		if entry.Flags&trace.Flush != 0 && r.Op != blocktap.OpFlush {
			if err := devices[i].Do(ctx, &blocktap.Request{Op: blocktap.OpFlush}); err != nil {
				return false, err
			}
		}
		switch err := devices[i].Do(ctx, &r); {
		case errors.Is(err, blocktap.ErrRefused):
			return true, nil
		case errors.Is(err, blocktap.ErrRange):
			return false, fmt.Errorf("log entry %d: %w: is it the right base?", entry.Index, err)
		case err != nil:
			return false, fmt.Errorf("log entry %d: %w", entry.Index, err)
		}
	}
}
