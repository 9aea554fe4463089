package offline

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
)

// Try performs requests on the disks of a guest through a guard that refuses, and returns the first
// event that does not hold; nil if all hold. It does not perform the requests after that one.
func Try(ctx context.Context, disks *Overlays, fs string, rules *guard.Rules,
	requests []DiskRequest) (*guard.Event, error) {
	interpreter, err := detect.Follow(disks, fs)
	if err != nil {
		return nil, err
	}
	var found firstFault
	p := guard.NewPipeline(guard.PipelineConfig{Disks: disks.Disks, Interpreter: interpreter,
		Rules: rules, Policy: guard.RefusePolicy{},
		Sinks: []guard.Sink{&found}}, zap.NewNop())
	defer p.Close()
	for i := range requests {
		err := p.Devices[requests[i].Disk].Do(ctx, &requests[i].Request)
		if found.event != nil {
			return found.event, nil
		}
		if err != nil && !errors.Is(err, blocktap.ErrRefused) {
			return nil, err
		}
	}
	return nil, nil
}

// firstFault is a Sink that keeps the first event that does not hold.
type firstFault struct{ event *guard.Event }

func (f *firstFault) Event(ev *guard.Event) {
	if f.event == nil && ev.Outcome != change.Holds {
		f.event = ev
	}
}

// FirstCommit performs requests on the disks of a guest until one is a commit or does not hold, and
// returns the observation of that request. The View of the observation reads the disks.
func FirstCommit(ctx context.Context, disks *Overlays, fs string,
	requests []DiskRequest) (interp.Observation, error) {
	interpreter, err := detect.Follow(disks, fs)
	if err != nil {
		return interp.Observation{}, err
	}
	var devices []*blocktap.Device
	for _, d := range disks.Disks {
		devices = append(devices, blocktap.NewDevice(d, nil))
	}
	for i := range requests {
		r := &requests[i]
		if r.Op == blocktap.OpFlush {
			continue
		}
		w := guard.WriteOf(&r.Request)
		w.Off = interp.Address(r.Disk, w.Off)
		obs := interpreter.Observe(w)
		err := devices[r.Disk].Do(ctx, &r.Request)
		if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil ||
			err != nil {
			return obs, err
		}
		interpreter.Settle(true)
	}
	return interp.Observation{}, nil
}
