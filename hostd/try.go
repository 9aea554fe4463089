package hostd

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/interp"
	"fsward/interp/detect"
)

// Try performs requests on a disk through the flow of a guard that refuses, and returns the first event
// that does not hold; nil if all do. Requests after that one are not performed.
func Try(ctx context.Context, disk blocktap.Disk, fs string, rules *Rules, requests []blocktap.Request) (*Event, error) {
	interpreter, err := detect.Follow(disk, fs)
	if err != nil {
		return nil, err
	}
	var found firstFault
	guard := &Guard{interp: interpreter, rules: rules, policy: refusePolicy{}, sinks: []Sink{&found}, log: zap.NewNop()}
	defer guard.forget()
	device := blocktap.NewDevice(disk, guard)
	for i := range requests {
		err := device.Do(ctx, &requests[i])
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
type firstFault struct{ event *Event }

func (f *firstFault) Event(ev *Event) {
	if f.event == nil && ev.Outcome != change.Holds {
		f.event = ev
	}
}

// FirstCommit performs requests on a disk until one is a commit or does not hold, and returns what is seen
// of that one. Its View reads the disk.
func FirstCommit(ctx context.Context, disk blocktap.Disk, fs string, requests []blocktap.Request) (interp.Observation, error) {
	interpreter, err := detect.Follow(disk, fs)
	if err != nil {
		return interp.Observation{}, err
	}
	device := blocktap.NewDevice(disk, nil)
	for i := range requests {
		if requests[i].Op == blocktap.OpFlush {
			continue
		}
		obs := interpreter.Observe(writeOf(&requests[i]))
		err := device.Do(ctx, &requests[i])
		if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil || err != nil {
			return obs, err
		}
		interpreter.Settle(true)
	}
	return interp.Observation{}, nil
}
